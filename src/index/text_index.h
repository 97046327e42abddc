// The text index of a shard: documents in, ranked hits out, all in memory.
//
//   TextIndex index = *TextIndex::create({});
//   index.apply({.upserts = {{.number = 7, .fields = {"A title", "and a text"}}}, .lsn = 1});
//   const TextView view = index.view();
//   view.search(*parse_query("title AND text", index.options()));
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "index/text/view.h"
#include "index/text_document.h"

namespace kin::index {

// Changes that become visible together. Deletes are applied first; the last upsert of a number
// counts.
struct TextChanges {
  std::vector<std::uint32_t> deletes{};
  std::vector<TextDocument> upserts{};
  std::uint64_t lsn = 0;  // of the last operation among them
};

// One part of a checkpoint. The bytes of an id never change, so a part is stored once.
struct CheckpointPart {
  std::uint64_t id = 0;
  std::shared_ptr<const TextSegment> segment{};  // its bytes() are to be stored under `id`
};

struct TextCheckpoint {
  std::string manifest{};  // docs/formats.md, "Text manifest"
  std::vector<CheckpointPart> parts{};
  std::uint64_t applied = 0;
};

// Immutable segments of 1, 8, 64, … documents of one section. An update marks the document as
// deleted in an old segment and adds a new segment. Writers merge small segments, merge() merges
// larger ones.
// Thread-safe: writers wait for each other, readers never wait.
class TextIndex {
 public:
  static Result<TextIndex> create(TextOptions options);

  // Opens what checkpoint() gave; `load` returns the bytes of a part by its id. kFailedPrecondition
  // if it was made with other options, kDataLoss if anything is damaged or missing.
  using LoadPart = std::function<Result<std::string>(std::uint64_t id)>;
  static Result<TextIndex> open(TextOptions options, std::string_view manifest,
                                const LoadPart& load);

  TextIndex(TextIndex&&) noexcept;
  TextIndex& operator=(TextIndex&&) noexcept;
  ~TextIndex();

  const TextOptions& options() const;

  // Visible in every view taken after it returned. Changes up to the last applied LSN are ignored,
  // so that a log can be replayed from any point.
  void apply(TextChanges changes);

  TextView view() const;

  // Merges some segments if that is due; true if it did. May take long; others read and write
  // meanwhile. Meant for a background thread.
  bool merge();
  // Merges until one segment without deleted documents is left.
  void merge_all();

  TextCheckpoint checkpoint() const;

  // A new section for documents that are added to it, and for those of `documents` that share no
  // segment with others. Waits for a merge that is under way unless there are none.
  TextSection begin_section(const DocSet& documents);
  // Its segments are like all others from now on.
  void end_section(TextSection section);

 private:
  struct Impl;
  explicit TextIndex(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace kin::index
