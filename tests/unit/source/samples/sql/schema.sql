-- The schema of the shop.
CREATE EXTENSION IF NOT EXISTS pgcrypto;
CREATE SCHEMA IF NOT EXISTS shop AUTHORIZATION owner;

CREATE TYPE shop.order_state AS ENUM ('new', 'paid', 'sent');
CREATE TYPE shop.money_amount AS (amount numeric, currency char(3));

/* People who buy things. */
CREATE TABLE IF NOT EXISTS shop.customers (
    id BIGSERIAL PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,
    created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    CONSTRAINT email_has_at CHECK (email LIKE '%@%')
);

create table orders (id int primary key, customer_id bigint references shop.customers (id));

CREATE TEMPORARY TABLE `import rows` (line TEXT);

CREATE UNIQUE INDEX CONCURRENTLY customers_email_key ON shop.customers USING btree (lower(email));
CREATE INDEX ON orders (customer_id);

CREATE SEQUENCE shop.invoice_number START 1000;

-- Customers with an order this year.
CREATE OR REPLACE VIEW shop.active_customers AS
SELECT c.id, c.email
FROM shop.customers c
WHERE EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id);

CREATE MATERIALIZED VIEW "Daily Sales" AS
WITH days AS (SELECT 1 AS day)
SELECT day FROM days;

-- Stamps a row.
-- Used by triggers.
CREATE OR REPLACE FUNCTION shop.touch() RETURNS trigger AS $$
DECLARE
  started timestamptz := now();
BEGIN
  IF NEW.email IS NULL THEN
    RAISE EXCEPTION 'no email %', NEW.id;
  END IF;
  NEW.updated_at := started;
  RETURN NEW;
END;
$$ LANGUAGE plpgsql;

CREATE FUNCTION add_tax(amount numeric, OUT gross numeric) RETURNS numeric
    LANGUAGE sql IMMUTABLE
    AS $body$ SELECT amount * 1.2 $body$;

CREATE FUNCTION half(a integer) RETURNS integer LANGUAGE sql RETURN a / 2;

CREATE PROCEDURE shop.archive(days int) LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM orders;
END
$$;

CREATE TRIGGER customers_touch BEFORE UPDATE ON shop.customers
    FOR EACH ROW EXECUTE FUNCTION shop.touch();

CREATE POLICY own_rows ON shop.customers USING (true);

CREATE DOMAIN positive AS integer CHECK (VALUE > 0);

ALTER TABLE orders ADD COLUMN note text;
INSERT INTO orders (id) VALUES (1);
SELECT * FROM orders;
