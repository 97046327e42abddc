// Benchmark of reading the timeline of many feeds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace kin::bench {

struct TimelineBench {
  std::uint64_t feeds = 500;
  std::uint64_t items = 100'000;  // over 90 days, two or three to a story
  int runs = 51;
  std::optional<std::filesystem::path> folder{};  // none: the system's temporary folder
};

struct TimelineFigures {
  std::uint64_t feeds = 0;
  std::uint64_t items = 0;
  std::uint64_t stories = 0;
  double ingest_seconds = 0;  // on the path that polls take, without waiting for the disk
  double database_megabytes = 0;
  double open_milliseconds = 0;       // including the grouper's state
  double mark_read_milliseconds = 0;  // all stories at once
  int runs = 0;
  struct Reading {
    std::string what;
    double median_milliseconds = 0;
    double worst_milliseconds = 0;
    std::uint64_t stories = 0;  // on the page
  };
  std::vector<Reading> readings;
};

Result<TimelineFigures> bench_timeline(const TimelineBench& bench);

std::string to_json(const TimelineFigures& figures);
std::string to_table(const TimelineFigures& figures);

}  // namespace kin::bench
