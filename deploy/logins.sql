-- The two users as whom nodes and workers log in: members of their roles, and of nothing else; a node also signs people in.
-- Run it as the owner of the database after `cairn team migrate`, with psql -v node=PASSWORD -v worker=PASSWORD; again, it
-- changes the passwords.

SELECT format('CREATE ROLE %I LOGIN', login)
FROM (VALUES ('cairn_node_login'), ('cairn_worker_login')) AS wanted (login)
WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = login) \gexec

GRANT cairn_node, cairn_login TO cairn_node_login;
GRANT cairn_worker TO cairn_worker_login;
ALTER ROLE cairn_node_login NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'node';
ALTER ROLE cairn_worker_login NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS PASSWORD :'worker';
