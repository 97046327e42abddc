// RocksDB's view of the machine with the files of a base::Disk.
#pragma once

#include <memory>

#include "base/clock.h"
#include "base/disk.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace kin::kv {

// Every file access of RocksDB goes to `disk`, and its threads sleep by `clock`; time and threads
// are those of the process. On the system's disk RocksDB uses its own file access, with the means
// that a Disk does not offer (read-ahead, preallocation, links); on others there are no links,
// memory maps or direct reads. Errors keep their kind: a missing file, a full disk, another failure.
// For one database, whose logs are synced before the next one begins. Both must outlive the
// environment, and the environment the database.
std::unique_ptr<rocksdb::Env> env_on(Disk& disk, Clock& clock);

// While it lives, environments made by env_on() do not delete tables on this thread. RocksDB 7.8
// deletes a table when its ingestion fails, although the manifest may already name it, and could
// not open the store again. Tables that no manifest names are deleted when the store is opened.
class KeepTables {
 public:
  KeepTables();
  ~KeepTables();
  KeepTables(const KeepTables&) = delete;
  KeepTables& operator=(const KeepTables&) = delete;
};

}  // namespace kin::kv
