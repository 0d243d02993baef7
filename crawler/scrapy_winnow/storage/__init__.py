"""Redis and Valkey: clients, the guarded connection, Lua scripts, and the private server."""
