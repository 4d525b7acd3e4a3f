"""Packages and folders of the host; run Ansible playbooks."""
