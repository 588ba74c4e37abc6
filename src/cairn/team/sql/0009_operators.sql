-- Who signs in and operates the server has the scope `admin` with every token of a sign-in, for as long as they do.

ALTER TABLE person ADD COLUMN is_operator boolean NOT NULL DEFAULT false;

CREATE OR REPLACE FUNCTION bearer_with(scope text) RETURNS bigint
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
    SELECT person_id FROM shown_token()
    WHERE scope = ANY (scopes) OR (
        scope = 'admin' AND credential IS NOT NULL
        AND EXISTS (SELECT FROM person WHERE person.id = person_id AND is_operator)
    )
$$;

CREATE OR REPLACE FUNCTION revoke_tokens(of_person text) RETURNS bigint
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = cairn, pg_temp AS $$
DECLARE
    n_revoked bigint;
BEGIN
    -- First, for they may revoke their own.
    INSERT INTO audit (at, person_id, actor, token_id, operation, project, about, outcome)
        SELECT now(), person.id, person.name, shown.id, 'revoke tokens', '', left(of_person, 200), 'ok'
        FROM shown_token() AS shown JOIN person ON person.id = bearer_with('admin');
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    UPDATE token SET revoked_at = now() FROM person
        WHERE person.id = person_id AND person.name = of_person AND revoked_at IS NULL;
    GET DIAGNOSTICS n_revoked = ROW_COUNT;
    RETURN n_revoked;
END
$$;
