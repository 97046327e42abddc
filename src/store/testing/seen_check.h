// Compares a seen set with an exact model, for any number of operations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/result.h"
#include "store/seen_set.h"

namespace kin::store {

struct SeenCheckOptions {
  std::uint64_t operations = 1'000'000;  // ids inserted or looked up
  std::uint64_t seed = 1;
  std::uint64_t commit_every = 8192;  // ids inserted
  std::uint64_t reopens = 10;         // over the whole check; two of three operations insert
  SeenOptions set;                    // the mode is not used: a new set is made
};

struct SeenCheckFigures {
  std::uint64_t operations = 0;  // all answered correctly
  std::uint64_t added = 0;       // inserts of new ids
  std::uint64_t repeated = 0;    // inserts of existing ids
  std::uint64_t found = 0;       // look-ups of existing ids
  std::uint64_t absent = 0;      // look-ups of absent ids
  std::uint64_t commits = 0;
  std::uint64_t flushes = 0;  // tables written out as runs
  std::uint64_t merges = 0;
  std::uint64_t reopens = 0;
};

// Makes a set in `folder` (existing contents are lost) and inserts and looks up ids, one by one and
// by the thousand, new ones, repeated ones, absent ones and neighbours of existing ones; commits,
// writes out, closes and opens it again; at the end reads every id and verifies. The model is a
// counter: ids come from a bijection of 0, 1, 2, …, some of which are never inserted; so it needs
// no memory, and cannot be wrong in the way a set can.
//
// kInternal at the first wrong answer, with the details; otherwise the set's own errors. `progress`
// is called about every million operations, and its error ends the check. One thread only.
Result<SeenCheckFigures> check_seen_set(
    const std::filesystem::path& folder, const SeenCheckOptions& options,
    const std::function<Status(const SeenCheckFigures&)>& progress = {});

}  // namespace kin::store
