-- results.sqlite, schema version 8 (PRAGMA user_version). docs/how-to/results-db.md explains it.
-- JSON columns hold the run's own files unchanged; the plain columns are read from them.

-- label: what this results folder's own runs are called in other labs' databases
CREATE TABLE lab (label TEXT NOT NULL);

CREATE TABLE run (
  lab TEXT NOT NULL,
  cell_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  -- which of a sweep's runs of the cell; NULL for a run of `make experiment`
  repeat INTEGER,
  -- failed: the run cannot be read; the reasons say why
  status TEXT NOT NULL CHECK (status IN ('ok', 'rejected', 'failed')),
  reasons TEXT NOT NULL,
  -- the run's folder below results/; NULL where its files are not here
  path TEXT,
  -- size and time of summary.json when this row was written
  stamp TEXT,
  -- cell.json, summary.json, manifest.json (less its copy of the cell) and host.json
  cell TEXT NOT NULL CHECK (json_valid(cell)),
  summary TEXT CHECK (summary IS NULL OR json_valid(summary)),
  manifest TEXT CHECK (manifest IS NULL OR json_valid(manifest)),
  host TEXT CHECK (host IS NULL OR json_valid(host)),

  -- requested, which an ok run's effective settings equal. What an engine does not have is NULL in its runs,
  -- though the cell has a default
  board TEXT AS (cell ->> '$.board'),
  clock TEXT AS (cell ->> '$.clock'),
  device TEXT AS (cell ->> '$.device'),
  fs TEXT AS (cell ->> '$.fs'),
  engine TEXT AS (cell ->> '$.engine'),
  journal_mode TEXT AS (iif(engine = 'sqlite', cell ->> '$.journal_mode', NULL)),
  synchronous TEXT AS (iif(engine IN ('lmdb', 'ppl'), NULL, cell ->> '$.synchronous')),
  sqlite TEXT AS (iif(engine IN ('ppl', 'sqlite', 'sqlitekv', 'ssl'), cell ->> '$.sqlite', NULL)),
  page_size INTEGER AS (iif(engine IN ('ppl', 'sqlite', 'ssl'), cell ->> '$.page_size', NULL)),
  cache_size INTEGER AS (iif(engine IN ('ppl', 'sqlite', 'ssl'), cell ->> '$.cache_size', NULL)),
  wal_autocheckpoint INTEGER AS (iif(engine = 'sqlite', cell ->> '$.wal_autocheckpoint', NULL)),
  journal_size_limit INTEGER AS (iif(engine = 'sqlite', cell ->> '$.journal_size_limit', NULL)),
  mmap_size INTEGER AS (iif(engine = 'sqlite', cell ->> '$.mmap_size', NULL)),
  auto_vacuum TEXT AS (iif(engine = 'sqlite', cell ->> '$.auto_vacuum', NULL)),
  secure_delete TEXT AS (iif(engine = 'sqlite', cell ->> '$.secure_delete', NULL)),
  temp_store TEXT AS (iif(engine = 'sqlite', cell ->> '$.temp_store', NULL)),
  locking_mode TEXT AS (iif(engine = 'sqlite', cell ->> '$.locking_mode', NULL)),
  cache_spill TEXT AS (iif(engine = 'sqlite', cell ->> '$.cache_spill', NULL)),
  held_reader TEXT AS (iif(engine = 'sqlite', cell ->> '$.held_reader', NULL)),
  writers TEXT AS (iif(engine = 'sqlite', cell ->> '$.writers', NULL)),
  busy_timeout INTEGER AS (iif(engine = 'sqlite', cell ->> '$.busy_timeout', NULL)),
  checksums TEXT AS (iif(engine = 'sqlite', cell ->> '$.checksums', NULL)),
  sync_every INTEGER AS (iif(engine = 'leveldb', cell ->> '$.sync_every', NULL)),
  background TEXT AS (iif(engine IN ('leveldb', 'rocksdb'), cell ->> '$.background', NULL)),
  write_buffer_size INTEGER AS (iif(engine IN ('leveldb', 'rocksdb'), cell ->> '$.write_buffer_size', NULL)),
  max_file_size INTEGER AS (iif(engine IN ('leveldb', 'rocksdb'), cell ->> '$.max_file_size', NULL)),
  block_cache INTEGER AS (iif(engine IN ('leveldb', 'rocksdb'), cell ->> '$.block_cache', NULL)),
  bloom_bits INTEGER AS (iif(engine IN ('leveldb', 'rocksdb'), cell ->> '$.bloom_bits', NULL)),
  checkpoint_every INTEGER AS (cell ->> '$.checkpoint_every'),
  workload TEXT AS (cell ->> '$.workload'),
  row_count INTEGER AS (cell ->> '$.rows'),
  n INTEGER AS (cell ->> '$.n'),
  value_size INTEGER AS (cell ->> '$.value_size'),
  seed INTEGER AS (cell ->> '$.seed'),
  -- effective, read back; of the engine's key in the manifest, unless its name cannot be in a JSON path
  effective TEXT AS (iif(engine GLOB '*["\]*', NULL, manifest -> ('$."' || engine || '".effective'))),
  compile_options TEXT AS (
    iif(engine GLOB '*["\]*', NULL, manifest -> ('$."' || engine || '".compile_options'))
  ),
  mount_options TEXT AS (manifest -> '$.filesystem.mount.options'),
  write_cache TEXT AS (manifest ->> '$.device.write_cache'),
  kernel TEXT AS (manifest ->> '$.board.kernel'),
  commitpath TEXT AS (host ->> '$.commitpath_commit'),
  -- measured
  tps_insert REAL AS (summary ->> '$.tps.insert'),
  tps_update REAL AS (summary ->> '$.tps.update'),
  tps_delete REAL AS (summary ->> '$.tps.delete'),
  tps_read REAL AS (summary ->> '$.tps.read'),
  tps_scan REAL AS (summary ->> '$.tps.scan'),
  tps_read_modify_write REAL AS (summary ->> '$.tps."read-modify-write"'),
  tps_batch REAL AS (summary ->> '$.tps.batch'),
  tps_all REAL AS (summary ->> '$.tps.all'),
  bytes_written INTEGER AS (summary ->> '$.block.bytes_written'),
  flushes INTEGER AS (summary ->> '$.block.flushes'),
  write_amplification REAL AS (summary ->> '$.write_amplification'),
  virtual_seconds REAL AS (summary ->> '$.virtual_seconds'),
  -- what cuts took (docs/explanation/durability.md): NULL in a run without cuts
  failure TEXT AS (summary ->> '$.crash.failure'),
  cuts_tried INTEGER AS (summary ->> '$.crash.cuts'),
  lost_worst INTEGER AS (summary ->> '$.crash.lost_acknowledged.max'),
  lost_mean REAL AS (summary ->> '$.crash.lost_acknowledged.mean'),
  corrupt INTEGER AS (summary ->> '$.crash.corrupt'),
  not_a_prefix INTEGER AS (summary ->> '$.crash.not_a_prefix'),
  unopened INTEGER AS (cuts_tried - (summary ->> '$.crash.opened')),
  against_promise INTEGER AS (summary ->> '$.crash.broken'),
  PRIMARY KEY (lab, cell_id, run_id)
);

-- the runs of each grid
CREATE TABLE grid_run (
  lab TEXT NOT NULL,
  grid TEXT NOT NULL,
  cell_id TEXT NOT NULL,
  repeat INTEGER NOT NULL,
  PRIMARY KEY (lab, grid, cell_id, repeat)
);

-- the cells that a grid leaves out: settings as a JSON object, and the written reason
CREATE TABLE grid_excluded (
  lab TEXT NOT NULL,
  grid TEXT NOT NULL,
  settings TEXT NOT NULL CHECK (json_valid(settings)),
  reason TEXT NOT NULL,
  PRIMARY KEY (lab, grid, settings)
);
