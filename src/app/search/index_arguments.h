// What `kindred index` was asked to do. Its verbs work on the indexes of this machine
// (index_command.cc) or on those of a router or a server (remote_index.h), and say the same.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/remote_api.h"
#include "app/search/index_flags.h"
#include "search/document_files.h"
#include "search/search_index.h"

namespace kin::app {

struct IndexArguments {
  IndexFlags place;
  AtFlags at;
  std::uint32_t partitions = 0;
  std::vector<std::string> sample;
  std::string embed;
  std::uint32_t dimension = 0;
  std::string distance = "cosine";
  std::uint32_t bits = 7;
  std::string storage;
  std::vector<std::string> spaces;
  std::string language = "english";
  std::string dedup;
  double threshold = 0.8;
  search::FilesOptions files;
  std::string on_error = "fail";
  std::vector<std::string> ids;
  std::string output = "-";
  bool no_wait = false;
  bool json = false;
};

// Documents that are being added.
struct Adding {
  search::FilesProgress files;
  std::atomic<std::uint64_t> added{0};
  std::vector<search::RepeatedDocument> refused;
  std::vector<search::RepeatedDocument> linked;
  std::atomic<bool> waiting{false};  // for background work
};

std::string progress_text(const Adding& adding, double seconds);

// These print what was done, and return the exit code.
Result<int> print_created(const IndexArguments& arguments);
Result<int> print_dropped(const IndexArguments& arguments);
Result<int> print_deleted(const IndexArguments& arguments, std::uint64_t removed);
Result<int> print_checked(const IndexArguments& arguments, const index::CheckReport& report);

using Visit = std::function<Status(const search::Document&)>;
// Writes all documents; `each` visits them.
Result<int> export_documents(const IndexArguments& arguments,
                             const std::function<Status(const Visit&)>& each);

}  // namespace kin::app
