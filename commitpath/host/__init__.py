"""Prepare this host: Debian packages, usable folders; read the inventory of boards, run Ansible playbooks."""
