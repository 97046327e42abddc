// The messages of etcd's JSON gateway (/v3/kv/range, /v3/kv/txn, /v3/watch), and how rows of the
// meta store look in etcd. docs/formats.md, "A router: rows in etcd". All functions are
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "router/meta/row_format.h"

namespace kin::router {

// The value of a row in etcd: the bytes, or a mark that the key was removed.
std::string etcd_value(std::optional<std::string_view> bytes);

// The end of the range of keys that start with `prefix`; "\0", every key, if there is no end.
std::string prefix_end(std::string_view prefix);

// One key, or with an `end` those from `key` up to it. Keys that did not change since `least` are
// left out.
struct EtcdRangeQuestion {
  std::string key = {};
  std::string end = {};
  std::uint64_t least = 0;
};
std::string range_request(const EtcdRangeQuestion& question);
struct EtcdSwapQuestion {
  std::string key = {};
  std::uint64_t revision = 0;  // of the row; 0: there is none
  bool removed = false;        // the row says that the key was removed
  std::string value = {};      // see etcd_value()
};
// Writes the value if the row is as described.
std::string swap_request(const EtcdSwapQuestion& question);
std::string watch_request(const EtcdRangeQuestion& question);
std::string login_request(std::string_view user, std::string_view password);

struct EtcdRow {
  std::string key = {};
  MetaRow row = {};
};
struct EtcdRange {
  std::vector<EtcdRow> rows = {};  // by key
  std::uint64_t revision = 0;      // of the store
};
// kDataLoss for answers that are not etcd's, or rows that are not ours.
Result<EtcdRange> parse_range(std::string_view answer);

struct EtcdSwap {
  bool succeeded = false;
  std::uint64_t revision = 0;  // of the store
};
Result<EtcdSwap> parse_swap(std::string_view answer);

// One line of a watch's answer.
struct EtcdWatchLine {
  bool changed = false;                   // something changed
  std::optional<std::string> ended = {};  // why etcd gives no more lines
};
Result<EtcdWatchLine> parse_watch_line(std::string_view line);

Result<std::string> parse_login(std::string_view answer);

// A refusal of the gateway: gRPC's status code, and words.
struct EtcdFailure {
  int code = 0;
  std::string message = {};
};
EtcdFailure parse_failure(std::string_view answer);

}  // namespace kin::router
