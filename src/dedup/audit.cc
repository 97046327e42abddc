#include "dedup/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "base/json_writer.h"
#include "base/workers.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 512;

using Values = std::unordered_map<RecordId, std::string>;

// Reads the values of `ids` in file order.
Values fetch(const store::KeptValues& from, std::vector<RecordId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  Values values;
  from.get_batch(ids, [&](RecordId id, std::string_view value) { values.emplace(id, value); });
  return values;
}

void value_or_null(JsonWriter& json, std::string_view key, const Values& values, RecordId id) {
  const auto at = values.find(id);
  json.key(key);
  if (at == values.end()) {
    json.null();
  } else {
    json.value(at->second);
  }
}

double rounded(float similarity) {
  return std::round(static_cast<double>(similarity) * 10'000) / 10'000;
}

std::uint32_t file_of(const std::vector<std::uint64_t>& first_rows, RecordId row) {
  const auto after =
      std::upper_bound(first_rows.begin(), first_rows.end(), std::uint64_t{index(row)});
  return static_cast<std::uint32_t>(after - first_rows.begin() - 1);
}

// Writes the batch's lines.
class RemovedWriter {
 public:
  explicit RemovedWriter(const AuditInput& input)
      : input_(input),
        first_rows_(input.dataset.first_rows()),
        field_(fmt::format("{}", fmt::join(input.options.fields, ","))) {}

  // Thread-safe.
  std::string lines(std::span<const Removal> batch) const {
    std::vector<RecordId> owners;
    std::vector<RecordId> rows;
    for (const Removal& removal : batch) {
      for (const RecordId row : {removal.record, removal.kept}) {
        owners.push_back(input_.classes.text_owner(row));
        rows.push_back(row);
      }
    }
    const Values texts = fetch(*input_.kept.texts, std::move(owners));
    Values ids;
    if (input_.kept.ids) ids = fetch(*input_.kept.ids, std::move(rows));
    std::string lines;
    for (const Removal& removal : batch) {
      lines += line(removal, texts, ids);
      lines += '\n';
    }
    return lines;
  }

 private:
  std::string line(const Removal& removal, const Values& texts, const Values& ids) const {
    JsonWriter json;
    json.begin_object().field("row_id", index(removal.record));
    value_or_null(json, "id", ids, removal.record);
    json.field("file", input_.dataset.inputs()[file_of(first_rows_, removal.record)].shown_as);
    json.field("duplicate_of_row_id", index(removal.kept));
    value_or_null(json, "duplicate_of_id", ids, removal.kept);
    json.field("field", field_);
    value_or_null(json, "value", texts, input_.classes.text_owner(removal.record));
    value_or_null(json, "matched_value", texts, input_.classes.text_owner(removal.kept));
    json.field("similarity", rounded(removal.similarity));
    json.field("threshold", threshold(removal.method));
    json.field("method", name_of(removal.method)).end();
    return json.take();
  }

  // What the similarity had to reach.
  double threshold(Method method) const {
    switch (method) {
      case Method::kExact:
      case Method::kMinHash: return input_.options.threshold;
      case Method::kSimHash: return 1.0 - input_.options.hamming / 64.0;
      case Method::kChunk: return 0.0;  // the share one record holds: all records together hold all
    }
    KIN_UNREACHABLE();
  }

  const AuditInput& input_;
  std::vector<std::uint64_t> first_rows_;
  std::string field_;
};

std::string group_line(std::span<const Removal> group, const Values& ids) {
  JsonWriter json;
  json.begin_object().field("kept_row_id", index(group.front().kept));
  value_or_null(json, "kept_id", ids, group.front().kept);
  json.field("size", group.size() + 1).key("members").begin_array();
  for (const Removal& member : group) {
    json.begin_object().field("row_id", index(member.record));
    value_or_null(json, "id", ids, member.record);
    json.field("similarity", rounded(member.similarity))
        .field("method", name_of(member.method))
        .end();
  }
  json.end().end();
  return json.take() + '\n';
}

}  // namespace

fs::path removed_path(const fs::path& output) {
  fs::path stem = output.filename();
  if (stem.extension() == ".gz" || stem.extension() == ".zst") stem = stem.stem();
  return output.parent_path() / (stem.stem().string() + ".removed.jsonl");
}

Status write_removed(const AuditInput& input, AtomicFile& file) {
  const RemovedWriter writer(input);
  const std::span<const Removal> all(input.removals);
  // A few batches are made side by side and written in order.
  const std::size_t batches = 2 * static_cast<std::size_t>(std::max(input.options.threads, 1));
  std::vector<std::string> lines(batches);
  for (std::size_t begin = 0; begin < all.size(); begin += batches * kBatch) {
    KIN_RETURN_IF_ERROR(
        parallel_for(input.options.threads, batches, [&](std::size_t batch) -> Status {
          const std::size_t first = std::min(all.size(), begin + batch * kBatch);
          lines[batch] = writer.lines(all.subspan(first, std::min(kBatch, all.size() - first)));
          return Done{};
        }));
    for (const std::string& block : lines) KIN_RETURN_IF_ERROR(file.write(block));
  }
  return Done{};
}

Status write_groups(const AuditInput& input, AtomicFile& file) {
  std::vector<Removal> by_kept = input.removals;
  std::sort(by_kept.begin(), by_kept.end(), [](const Removal& a, const Removal& b) {
    return std::tie(a.kept, a.record) < std::tie(b.kept, b.record);
  });
  std::string lines;
  for (std::size_t begin = 0; begin < by_kept.size();) {
    std::size_t end = begin + 1;
    while (end < by_kept.size() && by_kept[end].kept == by_kept[begin].kept) ++end;
    const auto group = std::span<const Removal>(by_kept).subspan(begin, end - begin);
    Values ids;
    if (input.kept.ids) {
      std::vector<RecordId> rows{group.front().kept};
      for (const Removal& member : group) rows.push_back(member.record);
      ids = fetch(*input.kept.ids, std::move(rows));
    }
    lines += group_line(group, ids);
    begin = end;
    if (lines.size() < (1 << 20) && begin < by_kept.size()) continue;
    KIN_RETURN_IF_ERROR(file.write(lines));
    lines.clear();
  }
  return Done{};
}

}  // namespace kin::dedup
