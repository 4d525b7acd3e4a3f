CREATE TABLE IF NOT EXISTS "users" ("id" integer PRIMARY KEY AUTOINCREMENT NOT NULL, "mail" varchar);
CREATE TABLE sqlite_sequence(name,seq);
-- commitpath: transactions
INSERT INTO "users" ("mail") VALUES ('a@b');
