// RocksDB's view of the machine with the files of a base::Disk.
#pragma once

#include <memory>

#include "base/disk.h"

namespace rocksdb {
class Env;
}  // namespace rocksdb

namespace kin::kv {

// Every file access of RocksDB goes to `disk`; time and threads are those of the process. Without
// hard links, memory maps and direct reads. Errors keep their kind: a missing file, a full disk,
// another failure. `disk` must outlive the environment, and the environment every database in it.
std::unique_ptr<rocksdb::Env> env_on(Disk& disk);

}  // namespace kin::kv
