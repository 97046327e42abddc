// Files that fail on demand, for tests of what stores do then.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "store/block_file.h"

namespace kin::store {

// Which calls fail, shared by the files opened with it. Calls count from 1; 0 is never.
// Thread-safe.
struct Faults {
  std::atomic<std::uint64_t> reads = 0;
  std::atomic<std::uint64_t> writes = 0;
  std::atomic<std::uint64_t> fail_read = 0;   // this one alone
  std::atomic<std::uint64_t> fail_write = 0;  // this one alone
  std::atomic<bool> fail_reads = false;       // all from now on
  std::atomic<bool> fail_writes = false;      // all from now on
};

// Opens real files whose reads and writes fail as `faults` says: kUnavailable, nothing read or
// written.
OpenBlockFile open_faulty(std::shared_ptr<Faults> faults);

}  // namespace kin::store
