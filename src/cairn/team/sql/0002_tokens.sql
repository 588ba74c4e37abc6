-- Tokens have a name, scopes and an end of their own; people and services may read projects, and write to some.

ALTER TABLE person
    ADD COLUMN is_service boolean NOT NULL DEFAULT false,
    ADD COLUMN created_at timestamptz NOT NULL DEFAULT now();

-- A revoked token stays, so that what it was used for can be told. Its last use is known to the day.
ALTER TABLE token
    ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
    ADD COLUMN name text NOT NULL DEFAULT '' CHECK (length(name) <= 200),
    ADD COLUMN scopes text[] NOT NULL DEFAULT '{read}'
        CHECK (scopes <@ '{read,write,admin}' AND cardinality(scopes) > 0),
    ADD COLUMN used_on date,
    ADD COLUMN revoked_at timestamptz;

ALTER TABLE access ADD COLUMN may_write boolean NOT NULL DEFAULT false;

-- Notes for this transaction which token a node was given.
CREATE FUNCTION show_token(shown bytea) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
BEGIN
    PERFORM set_config('cairn.token', encode(shown, 'hex'), true);
    UPDATE token SET used_on = current_date
    WHERE hash = shown AND used_on IS DISTINCT FROM current_date AND revoked_at IS NULL AND expires_at > now();
END
$$;

-- The token of this transaction, if it is one and holds.
CREATE FUNCTION shown_token() RETURNS SETOF token
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT * FROM token
    WHERE hash = decode(coalesce(current_setting('cairn.token', true), ''), 'hex')
        AND expires_at > now() AND revoked_at IS NULL
$$;

-- Who bears it, if it has a scope; nobody without one.
CREATE FUNCTION bearer_with(scope text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT person_id FROM shown_token() WHERE scope = ANY (scopes)
$$;

CREATE OR REPLACE FUNCTION bearer() RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT bearer_with('read')
$$;

-- Why a token of this transaction may not do something: 'token' if it is none, 'scope' if it is for something else.
CREATE FUNCTION refusal(scope text) RETURNS text
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT CASE
        WHEN bearer_with(scope) IS NOT NULL THEN NULL
        WHEN EXISTS (SELECT FROM shown_token()) THEN 'scope'
        ELSE 'token'
    END
$$;

CREATE FUNCTION readable() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT project_id FROM access WHERE person_id = bearer_with('read')
$$;

CREATE FUNCTION writable() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT project_id FROM access WHERE person_id = bearer_with('write') AND may_write
$$;

ALTER POLICY readable ON project USING (id IN (SELECT readable()));
ALTER POLICY readable ON branch USING (project_id IN (SELECT readable()));

REVOKE ALL ON FUNCTION
    show_token(bytea), shown_token(), bearer_with(text), refusal(text), readable(), writable()
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION
    show_token(bytea), bearer_with(text), refusal(text), readable(), writable()
    TO cairn_node;
