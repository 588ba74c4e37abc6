-- People sign in at a provider, which may also say what they may read. What it said holds for a day, and no longer
-- than until it announces a change. The role cairn_login calls the functions below, and reads no table.

-- The host and path that all addresses of a repository have in common.
ALTER TABLE project ADD COLUMN repository text NOT NULL DEFAULT '';
CREATE INDEX project_repository ON project (repository);

CREATE TABLE identity (
    provider text NOT NULL,
    subject text NOT NULL,
    person_id bigint NOT NULL UNIQUE REFERENCES person ON DELETE CASCADE,
    is_blocked boolean NOT NULL DEFAULT false,
    verified_at timestamptz NOT NULL DEFAULT now(),
    n_changes bigint NOT NULL DEFAULT 0,
    n_changes_known bigint NOT NULL DEFAULT 0,
    asking_until timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (provider, subject)
);

-- What the provider gave for a sign-in, encrypted with the token that was made then.
ALTER TABLE token ADD COLUMN credential bytea;

-- What a provider granted is replaced by what it says next, unless an operator denied it.
ALTER TABLE access
    ADD COLUMN from_provider boolean NOT NULL DEFAULT false,
    ADD COLUMN is_denied boolean NOT NULL DEFAULT false;

-- Sign-ins that have begun: the hash of the code that the machine asks with, and the provider's, encrypted with it.
CREATE TABLE sign_in (
    code bytea PRIMARY KEY,
    sealed bytea NOT NULL,
    rest interval NOT NULL,
    begun_at timestamptz NOT NULL DEFAULT now(),
    asked_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL
);

CREATE OR REPLACE FUNCTION shown_token() RETURNS SETOF token
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT * FROM token
    WHERE hash = decode(coalesce(current_setting('cairn.token', true), ''), 'hex')
        AND expires_at > now() AND revoked_at IS NULL
        AND NOT EXISTS (
            SELECT FROM identity WHERE identity.person_id = token.person_id
                AND (is_blocked OR n_changes > n_changes_known OR verified_at <= now() - interval '24 hours')
        )
$$;

CREATE OR REPLACE FUNCTION readable() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT project_id FROM access WHERE person_id = bearer_with('read') AND NOT is_denied
$$;

CREATE OR REPLACE FUNCTION writable() RETURNS SETOF bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT project_id FROM access WHERE person_id = bearer_with('write') AND may_write AND NOT is_denied
$$;

CREATE FUNCTION begin_sign_in(new_code bytea, of_provider bytea, wait interval, life interval) RETURNS boolean
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
BEGIN
    DELETE FROM sign_in WHERE expires_at <= now();
    IF (SELECT count(*) FROM sign_in) >= 1000 THEN
        RETURN false;
    END IF;
    INSERT INTO sign_in (code, sealed, rest, expires_at) VALUES (new_code, of_provider, wait, now() + life);
    RETURN true;
END
$$;

-- Whether the provider may be asked about a sign-in now: `ask`, `slow_down`, or `expired_token`.
CREATE FUNCTION poll_sign_in(asked bytea, OUT state text, OUT of_provider bytea, OUT age interval)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    found sign_in;
BEGIN
    SELECT * INTO found FROM sign_in WHERE code = asked AND expires_at > now() FOR UPDATE;
    IF found.code IS NULL THEN
        state := 'expired_token';
    ELSIF found.asked_at + found.rest - interval '500 milliseconds' > now() THEN
        UPDATE sign_in SET rest = rest + interval '5 seconds', asked_at = now() WHERE code = asked;
        state := 'slow_down';
    ELSE
        UPDATE sign_in SET asked_at = now() WHERE code = asked;
        state := 'ask';
        of_provider := found.sealed;
        age := now() - found.begun_at;
    END IF;
END
$$;

CREATE FUNCTION slow_sign_in(asked bytea) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE sign_in SET rest = rest + interval '5 seconds' WHERE code = asked
$$;

CREATE FUNCTION drop_sign_in(asked bytea) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    DELETE FROM sign_in WHERE code = asked
$$;

-- Replaces what a provider granted to a person. `said` has `repository` and `may_write`; NULL if it says nothing.
CREATE FUNCTION set_grants(who bigint, said jsonb) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    DELETE FROM access WHERE said IS NOT NULL AND person_id = who AND from_provider AND NOT is_denied
        AND project_id NOT IN (
            SELECT project.id FROM jsonb_to_recordset(said) AS r(repository text)
            JOIN project ON project.repository = r.repository WHERE r.repository <> ''
        );
    INSERT INTO access (person_id, project_id, may_write, from_provider)
        SELECT who, project.id, bool_or(r.may_write), true
        FROM jsonb_to_recordset(coalesce(said, '[]')) AS r(repository text, may_write boolean)
        JOIN project ON project.repository = r.repository WHERE r.repository <> '' GROUP BY project.id
        ON CONFLICT (person_id, project_id) DO UPDATE SET may_write = excluded.may_write WHERE access.from_provider
$$;

-- Ends a sign-in with a token; returns its person's name, or NULL if it was ended before or they are blocked.
CREATE FUNCTION let_in(
    asked bytea, at_provider text, of_subject text, wanted_name text,
    new_token bytea, new_scopes text[], new_credential bytea, life interval, said jsonb
) RETURNS text
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    who bigint;
    called text;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtext(at_provider || ' ' || of_subject));
    DELETE FROM sign_in WHERE code = asked AND expires_at > now();
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    SELECT person_id INTO who FROM identity WHERE provider = at_provider AND subject = of_subject;
    IF who IS NULL THEN
        -- A name that an operator gave, or that somebody else bore before, is not taken over.
        INSERT INTO person (name) VALUES (wanted_name) ON CONFLICT DO NOTHING RETURNING id INTO who;
        IF who IS NULL THEN
            INSERT INTO person (name) VALUES (
                left(wanted_name, 180) || '#'
                || left(encode(sha256(convert_to(at_provider || ' ' || of_subject, 'UTF8')), 'hex'), 12)
            ) RETURNING id INTO who;
        END IF;
        INSERT INTO identity (provider, subject, person_id) VALUES (at_provider, of_subject, who);
    END IF;
    UPDATE identity SET verified_at = now(), n_changes_known = n_changes WHERE person_id = who AND NOT is_blocked;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    INSERT INTO token (hash, person_id, expires_at, scopes, name, credential)
        VALUES (new_token, who, now() + life, new_scopes, 'signed in', new_credential);
    PERFORM set_grants(who, said);
    SELECT name INTO called FROM person WHERE id = who;
    INSERT INTO audit (at, person_id, actor, operation, project, outcome)
        VALUES (now(), who, called, 'sign in', '', 'ok');
    RETURN called;
END
$$;

-- Whether the provider is to be asked again about the bearer of a token: `ask`, `busy` if somebody does, or `no`.
CREATE FUNCTION due_grants(asked bytea, OUT state text, OUT sealed bytea, OUT known bigint)
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    who bigint;
BEGIN
    SELECT person_id, credential INTO who, sealed FROM token
        WHERE hash = asked AND revoked_at IS NULL AND expires_at > now() AND credential IS NOT NULL;
    PERFORM 1 FROM identity WHERE person_id = who AND NOT is_blocked
        AND (n_changes > n_changes_known OR verified_at <= now() - interval '15 minutes');
    IF NOT FOUND THEN
        state := 'no';
        sealed := NULL;
        RETURN;
    END IF;
    UPDATE identity SET asking_until = now() + interval '30 seconds'
        WHERE person_id = who AND asking_until <= now() RETURNING n_changes INTO known;
    state := CASE WHEN known IS NULL THEN 'busy' ELSE 'ask' END;
END
$$;

-- Keeps what the provider gave anew for a token.
CREATE FUNCTION keep_credential(asked bytea, new_credential bytea) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE token SET credential = new_credential WHERE hash = asked AND credential IS NOT NULL
$$;

-- Notes what the provider said; a change that it announced meanwhile still counts.
CREATE FUNCTION renew_grants(asked bytea, known bigint, said jsonb) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    who bigint;
BEGIN
    SELECT person_id INTO who FROM token WHERE hash = asked;
    UPDATE identity SET verified_at = now(), n_changes_known = known, asking_until = '-infinity' WHERE person_id = who;
    PERFORM set_grants(who, said);
END
$$;

-- Notes that the provider did not answer (`refused` is false) or no longer knows what it gave for this token.
CREATE FUNCTION fail_grants(asked bytea, refused boolean) RETURNS void
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    UPDATE identity SET asking_until = '-infinity' FROM token WHERE token.person_id = identity.person_id AND hash = asked;
    INSERT INTO audit (at, person_id, actor, token_id, operation, project, outcome)
        SELECT now(), person.id, person.name, token.id, 'sign in', '', 'refused'
        FROM token JOIN person ON person.id = person_id WHERE hash = asked AND refused;
    UPDATE token SET revoked_at = now() WHERE hash = asked AND refused AND revoked_at IS NULL
$$;

-- A provider announced a change: of one person, of a repository, or of anybody. Returns how many it may concern.
CREATE FUNCTION doubt_grants(at_provider text, of_subject text, of_repository text) RETURNS bigint
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    WITH doubted AS (
        UPDATE identity SET n_changes = n_changes + 1
        WHERE provider = at_provider AND (of_subject IS NULL OR subject = of_subject)
            AND (of_repository IS NULL OR person_id IN (
                SELECT person_id FROM access JOIN project ON project.id = project_id
                WHERE from_provider AND repository = of_repository
            ))
        RETURNING 1
    )
    SELECT count(*) FROM doubted
$$;

REVOKE ALL ON FUNCTION
    begin_sign_in(bytea, bytea, interval, interval), poll_sign_in(bytea), slow_sign_in(bytea), drop_sign_in(bytea),
    set_grants(bigint, jsonb), let_in(bytea, text, text, text, bytea, text[], bytea, interval, jsonb),
    due_grants(bytea), keep_credential(bytea, bytea), renew_grants(bytea, bigint, jsonb), fail_grants(bytea, boolean),
    doubt_grants(text, text, text)
    FROM PUBLIC;
GRANT USAGE ON SCHEMA cairn TO cairn_login;
GRANT EXECUTE ON FUNCTION
    begin_sign_in(bytea, bytea, interval, interval), poll_sign_in(bytea), slow_sign_in(bytea), drop_sign_in(bytea),
    let_in(bytea, text, text, text, bytea, text[], bytea, interval, jsonb),
    due_grants(bytea), keep_credential(bytea, bytea), renew_grants(bytea, bigint, jsonb), fail_grants(bytea, boolean),
    doubt_grants(text, text, text)
    TO cairn_login;
