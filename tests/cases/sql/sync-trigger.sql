CREATE TABLE logins("user" INTEGER NOT NULL, provider TEXT NOT NULL, synced ANY NOT NULL DEFAULT (FALSE), PRIMARY KEY("user")) STRICT, WITHOUT ROWID;
CREATE TABLE [audit log](`what` TEXT, n INTEGER) STRICT;
CREATE TRIGGER "on;change" AFTER UPDATE OF provider ON logins FOR EACH ROW
WHEN NEW.provider <> OLD.provider
BEGIN
  UPDATE logins SET synced = CASE WHEN NEW.provider = 'end;' THEN 2 ELSE 0 END WHERE "user" = OLD."user"; -- ; END;
  INSERT INTO [audit log] SELECT 'end;', count(*) FROM logins;
END;
-- commitpath: transactions
INSERT INTO logins("user", provider, synced) VALUES(7, 'mail', 1);
INSERT INTO logins("user", provider) VALUES(7, 'end;')
  ON CONFLICT("user") DO UPDATE SET provider = excluded.provider;
BEGIN;
SAVEPOINT "a;b";
DELETE FROM logins;
ROLLBACK TRANSACTION TO "a;b";
RELEASE "a;b";
END TRANSACTION;
