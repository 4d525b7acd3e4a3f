CREATE TABLE IF NOT EXISTS "schema_migrations" ("version" varchar NOT NULL PRIMARY KEY);
CREATE TABLE IF NOT EXISTS "ar_internal_metadata" ("key" varchar NOT NULL PRIMARY KEY, "value" varchar, "created_at" datetime(6) NOT NULL);
CREATE TABLE IF NOT EXISTS "orders" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "state" varchar DEFAULT 'new; open' NOT NULL, "total" decimal(8,2), CONSTRAINT "fk_1" FOREIGN KEY ("id") REFERENCES "orders" ("id"));
CREATE INDEX "index_orders_on_state" ON "orders" ("state") /*application='shop'*/;
-- commitpath: transactions
INSERT INTO "schema_migrations" (version) VALUES
('20250102030405'),
('20250101000000');

BEGIN immediate TRANSACTION;
INSERT INTO "orders" ("state", "total") VALUES ('paid', 12.5) RETURNING "id";
UPDATE "orders" SET "total" = 13 WHERE "orders"."id" = 1;
COMMIT TRANSACTION
;
