"""The papers' site-level methods behind one interface: pages of a site in, template units of each out."""
