#include "index/truth/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/ascii.h"
#include "base/hash.h"

namespace kin::index {
namespace {

using Fault = std::function<void(std::string)>;

// The rows that a family should have according to other families. Only hashes are kept: the rows
// may not fit into memory.
class ExpectedRows {
 public:
  // `compare` gives the part of a value that must agree.
  using Compare = std::function<Result<std::string>(std::string_view value)>;
  ExpectedRows(std::string_view what, kv::Family family, Compare compare)
      : what_(what), family_(family), compare_(std::move(compare)) {}

  void add(std::string_view key, std::string_view value) { hashes_.push_back(hash(key, value)); }

  Status compare(const TruthView& view, const Fault& fault) {
    std::ranges::sort(hashes_);
    std::uint64_t found = 0;
    kv::Cursor at = view.rows(family_);
    for (; at.valid(); at.next()) {
      const auto value = compare_(at.value());
      if (value.ok() && std::ranges::binary_search(hashes_, hash(at.key(), *value)))
        ++found;
      else
        fault(fmt::format("{} {} does not match any row of the truth", what_, to_hex(at.key())));
    }
    KIN_RETURN_IF_ERROR(at.status());
    if (found != hashes_.size())
      fault(fmt::format("{} of {} rows of the kind \"{}\" are missing", hashes_.size() - found,
                        hashes_.size(), what_));
    return Done{};
  }

 private:
  static Hash128 hash(std::string_view key, std::string_view value) {
    return hash128(value, hash64(key));
  }

  std::string_view what_;
  kv::Family family_;
  Compare compare_;
  std::vector<Hash128> hashes_;
};

Result<std::string> whole(std::string_view value) {
  return std::string(value);
}
Result<std::string> nothing(std::string_view) {
  return std::string();
}

// One thread only.
class TruthChecker {
 public:
  TruthChecker(const TruthView& view, const Fault& fault) : view_(view), fault_(fault) {}

  Status run() {
    KIN_RETURN_IF_ERROR(see_entities());
    KIN_RETURN_IF_ERROR(see_edges());
    KIN_RETURN_IF_ERROR(see_fragments(kEntityFragmentsFamily, DocKind::kEntityFragment));
    KIN_RETURN_IF_ERROR(see_fragments(kEdgeFragmentsFamily, DocKind::kEdgeFragment));
    // Runs after all rows that imply others have been read.
    for (ExpectedRows* rows : {&documents_, &members_, &contents_, &vectors_, &reverse_})
      KIN_RETURN_IF_ERROR(rows->compare(view_, fault_));
    KIN_RETURN_IF_ERROR(see_summaries());
    see_counters();
    return Done{};
  }

 private:
  template <typename See>
  Status each(kv::Family family, See&& see) {
    kv::Cursor at = view_.rows(family);
    for (; at.valid(); at.next()) {
      if (const Status seen = see(at.key(), at.value()); !seen.ok())
        fault_(fmt::format("row {}: {}", to_hex(at.key()), seen.error().message));
    }
    return at.status();
  }

  void expect_document(DocKind kind, DocNumber number, std::string_view key) {
    if (static_cast<std::uint32_t>(number) >= view_.counters().numbers)
      fault_(fmt::format("number {} is in use but was never given out",
                         static_cast<std::uint32_t>(number)));
    // Every number must lead back to the row that has it.
    documents_.add(document_key(number),
                   encode(DocumentRow{.kind = kind, .key = std::string(key)}));
  }

  Status see_entities() {
    return each(kEntitiesFamily, [&](std::string_view key, std::string_view value) -> Status {
      KIN_TRY(const HeadRow row, decode_head(value));
      if (row.deleted) return Done{};
      ++entities_;
      expect_document(DocKind::kEntity, row.head.number, key);
      members_.add(member_key(row.head.partition, row.head.number), key);
      contents_.add(content_key(row.head.number), "");
      for (const NameId space : row.spaces) vectors_.add(vector_key(row.head.number, space), "");
      for (const Hash128& summary : row.summaries) ++summaries_[summary];
      return Done{};
    });
  }

  Status see_edges() {
    return each(kForwardEdgesFamily, [&](std::string_view key, std::string_view value) -> Status {
      KIN_TRY(const EdgeRow row, decode_edge(value));
      const auto edge_key = decode_forward_key(key);
      if (!edge_key) return Error{Code::kDataLoss, "the key of an edge is damaged"};
      if (row.deleted) return Done{};
      ++edges_;
      reverse_.add(reverse_key(*edge_key),
                   encode(ReverseRow{.weight = row.weight, .until = row.until}));
      if (!row.summary) return Done{};
      ++summaries_[*row.summary];
      expect_document(DocKind::kEdge, row.number, key);
      return Done{};
    });
  }

  Status see_fragments(kv::Family family, DocKind kind) {
    return each(family, [&](std::string_view key, std::string_view value) -> Status {
      KIN_TRY(const FragmentRow row, decode_fragment(value));
      if (row.deleted) return Done{};
      ++fragments_;
      expect_document(kind, row.number, key);
      return Done{};
    });
  }

  Status see_summaries() {
    std::uint64_t texts = 0;
    std::uint64_t counts = 0;
    KIN_RETURN_IF_ERROR(
        each(kSummariesFamily, [&](std::string_view key, std::string_view value) -> Status {
          // The row of a count has the key of its text and a mark behind it.
          if (key.ends_with('#') && key.size() == summary_count_key({}).size()) {
            ++counts;
            return Done{};
          }
          KIN_TRY(const std::string text, decode_summary_text(value));
          ++texts;
          const Hash128 hash = summary_hash(text);
          if (key != summary_text_key(hash))
            fault_("the key of a summary is not the hash of its text");
          else
            KIN_RETURN_IF_ERROR(see_count(hash));
          return Done{};
        }));
    if (texts != summaries_.size() || counts != summaries_.size())
      fault_(fmt::format("{} summaries are in use, {} are stored, {} have a count",
                         summaries_.size(), texts, counts));
    return Done{};
  }

  Status see_count(const Hash128& hash) {
    const std::string key = summary_count_key(hash);
    kv::Cursor at = view_.rows(kSummariesFamily, {.from = key});
    const auto expected = summaries_.find(hash);
    if (!at.valid() || at.key() != key || expected == summaries_.end()) return Done{};
    KIN_TRY(const std::uint64_t count, decode_summary_count(at.value()));
    if (count != expected->second)
      fault_(
          fmt::format("a summary is used {} times, and its count is {}", expected->second, count));
    return Done{};
  }

  void see_counters() {
    const Counters& counters = view_.counters();
    const auto compare = [&](std::string_view what, std::uint64_t counted, std::uint64_t found) {
      if (counted != found)
        fault_(fmt::format("the counters say {} {}, and there are {}", counted, what, found));
    };
    compare("entities", counters.entities, entities_);
    compare("edges", counters.edges, edges_);
    compare("fragments", counters.fragments, fragments_);
  }

  const TruthView& view_;
  const Fault& fault_;
  ExpectedRows documents_{"document", kDocumentsFamily, whole};
  ExpectedRows members_{"member", kMembersFamily, whole};
  // Contents and vectors are compared by key alone: nothing else knows their values.
  ExpectedRows contents_{"content", kContentsFamily, nothing};
  ExpectedRows vectors_{"vector", kVectorsFamily, nothing};
  ExpectedRows reverse_{"reverse edge", kReverseEdgesFamily, whole};
  std::map<Hash128, std::uint64_t> summaries_;  // and how many refer to them
  std::uint64_t entities_ = 0;
  std::uint64_t edges_ = 0;
  std::uint64_t fragments_ = 0;
};

}  // namespace

Status check_truth(const TruthView& view, const std::function<void(std::string)>& fault) {
  return TruthChecker(view, fault).run();
}

}  // namespace kin::index
