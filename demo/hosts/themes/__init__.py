"""What surrounds every page of a host: its menus, margins and footer, drawn anew each time."""
