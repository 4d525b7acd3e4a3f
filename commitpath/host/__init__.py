"""The host: its packages, folders and Ansible."""
