// The figures of a run.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dedup/options.h"

namespace kin::dedup {

struct DedupReport {
  struct Group {
    std::uint64_t kept_row = 0;  // of the inputs, or of the references
    bool reference = false;      // the kept record is one
    std::optional<std::string> kept_id;
    std::uint64_t size = 0;
  };
  // A file or a source.
  struct Origin {
    std::string name;
    std::uint64_t documents = 0;
    std::uint64_t removed = 0;  // as duplicates of others in this run
    std::uint64_t seen = 0;     // left out because earlier runs had their ids
  };

  // Text that was cut out of records.
  struct Cut {
    std::uint64_t records = 0;
    std::uint64_t emptied = 0;  // records removed because nothing was left; counted in `removed`
    std::uint64_t passages = 0;
    std::uint64_t bytes = 0;
    std::uint64_t unverified = 0;  // equal hashes of different texts: not cut
    std::string log;               // empty for a dry run
  };

  // The references.
  struct Against {
    std::vector<std::string> files;
    std::uint64_t records = 0;
    std::uint64_t removed = 0;     // duplicates of references, or records that contain one
    std::uint64_t short_ones = 0;  // references with fewer words than --contains-words
  };

  std::vector<std::string> inputs;
  std::string output;          // empty for a dry run
  std::string removed_output;  // empty for a dry run
  std::string quarantine;      // the file of the skipped records; empty if there are none
  bool dry_run = false;
  bool resumed = false;

  std::uint64_t documents = 0;
  std::uint64_t kept = 0;
  std::uint64_t removed = 0;
  std::array<std::uint64_t, kMethods> removed_by{};  // by Method
  std::uint64_t skipped = 0;                  // records left out because they could not be read
  std::vector<std::string> skipped_messages;  // of the first of them
  std::uint64_t without_text = 0;
  std::uint64_t without_words = 0;
  std::uint64_t without_order = 0;  // no value for --keep
  std::uint64_t linked = 0;
  Cut cut;
  Against against;

  std::uint64_t groups = 0;
  std::vector<Group> largest_groups;
  std::vector<Origin> files;
  std::vector<Origin> sources;

  std::uint64_t candidates = 0;
  std::uint64_t verified = 0;
  std::uint64_t false_candidates = 0;
  std::uint64_t not_needed = 0;
  std::uint64_t large_buckets = 0;
  std::uint64_t capped_buckets = 0;
  std::uint64_t cold_reads = 0;
  std::uint64_t cold_read_errors = 0;
  std::uint64_t bytes_spilled = 0;

  std::vector<std::pair<std::string, double>> stage_seconds;
  double seconds = 0;
  std::uint64_t input_bytes = 0;
  std::uint64_t text_bytes = 0;
  std::uint64_t peak_memory = 0;

  DedupOptions options;
  std::vector<std::string> warnings;  // for the user to look at
  std::vector<std::string> notes;     // for example losses of the output format

  std::uint64_t seen() const { return removed_by[static_cast<std::size_t>(Method::kSeen)]; }
  std::uint64_t contained() const {
    return removed_by[static_cast<std::size_t>(Method::kContains)];
  }
  double megabytes_per_second() const {
    return seconds > 0 ? static_cast<double>(input_bytes) / 1e6 / seconds : 0;
  }
};

// The report as JSON. `indent` 0: on one line.
std::string to_json(const DedupReport& report, int indent);

// Fills report.warnings: more than one record in a hundred that could not be read, a file or a
// source that loses more than half of its records, a group of more than 1,000, bands that were not
// searched to the end, unreadable signatures, a preset that removes without verifying.
void add_warnings(DedupReport& report);

}  // namespace kin::dedup
