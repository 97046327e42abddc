// Makes records from the rows of a view.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/record.h"
#include "index/truth/view.h"

namespace kin::index {

// The contents of entities are read together, by fill() or at the end. One thread only; the view
// outlives it.
class RecordMaker {
 public:
  explicit RecordMaker(const TruthView& view) : view_(view) {}

  // A row of one of kRecordFamilies.
  Status add(kv::Family family, std::string_view key, std::string_view value);
  void add(Record record) { records_.push_back(std::move(record)); }

  std::size_t size() const { return records_.size(); }

  // Reads the contents of the entities so far.
  Status fill();
  // The records so far; others may follow.
  Result<std::vector<Record>> finish();
  // How many records from the first on have `most` bytes, or more with the last of them; nothing if
  // all have fewer. Call fill() before; records are looked at once.
  std::optional<std::size_t> count_of(std::size_t most);
  void keep_first(std::size_t count);

 private:
  Status add_entity(std::string_view key, std::string_view value);
  Status add_edge(std::string_view bytes, std::string_view value);
  Status add_fragment(kv::Family family, std::string_view bytes, std::string_view value);

  const TruthView& view_;
  std::vector<Record> records_;
  std::vector<std::size_t> live_;  // entities without their contents, among the records
  std::vector<DocId> live_ids_;
  std::size_t measured_ = 0;  // records whose bytes are counted
  std::size_t bytes_ = 0;
};

}  // namespace kin::index
