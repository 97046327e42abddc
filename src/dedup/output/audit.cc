#include "dedup/output/audit.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <span>

#include "base/json_writer.h"
#include "data/line_output.h"

namespace kin::dedup {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kIdBytes = 24;  // of an id, about

// The kept values of some records.
class Values {
 public:
  // Reads the values of `ids` in file order; together they have about `bytes` bytes. They replace
  // the values read before.
  void fetch(const store::KeptValues& from, std::vector<RecordId>& ids, std::uint64_t bytes) {
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    places_.clear();
    bytes_.clear();
    bytes_.reserve(bytes);
    from.get_batch(ids, [&](RecordId id, std::string_view value) {
      places_.push_back({id, bytes_.size(), value.size()});
      bytes_ += value;
    });
    std::sort(places_.begin(), places_.end(),
              [](const Place& a, const Place& b) { return a.id < b.id; });
  }
  std::uint64_t room() const { return bytes_.capacity(); }

  std::optional<std::string_view> find(RecordId id) const {
    const auto at =
        std::lower_bound(places_.begin(), places_.end(), id,
                         [](const Place& place, RecordId wanted) { return place.id < wanted; });
    if (at == places_.end() || at->id != id) return {};
    return std::string_view(bytes_).substr(at->begin, at->size);
  }

 private:
  struct Place {
    RecordId id;
    std::size_t begin;
    std::size_t size;
  };
  std::string bytes_;
  std::vector<Place> places_;  // by id
};

void value_or_null(JsonWriter& json, std::string_view key, const Values& values, RecordId id) {
  json.key(key);
  if (const auto value = values.find(id)) {
    json.value(*value);
  } else {
    json.null();
  }
}

double rounded(float similarity) {
  return std::round(static_cast<double>(similarity) * 10'000) / 10'000;
}

std::uint32_t file_of(const std::vector<std::uint64_t>& first_rows, RecordId row) {
  const auto after =
      std::upper_bound(first_rows.begin(), first_rows.end(), std::uint64_t{row_number(row)});
  return static_cast<std::uint32_t>(after - first_rows.begin() - 1);
}

// Rows count over the inputs, or over the references.
std::uint64_t shown_row(RecordId row, std::uint64_t references) {
  return row_number(row) < references ? row_number(row) : row_number(row) - references;
}

// Makes lines of the audit log.
class RemovedLines {
 public:
  explicit RemovedLines(const AuditInput& input)
      : input_(input),
        first_rows_(input.dataset.first_rows()),
        field_(fmt::format("{}", fmt::join(input.options.fields, ","))) {
    for (const data::Input& file : input.dataset.inputs()) files_.push_back(file.shown_as);
  }

  // The buffers of a thread. They are reused from piece to piece, because the system has to clear
  // new memory.
  struct Room {
    std::vector<RecordId> owners;
    std::vector<RecordId> rows;
    Values texts;
    Values ids;
  };

  // Thread-safe, if every thread has its own room.
  std::string lines(std::span<const Removal> batch, Room& room) const {
    constexpr std::uint64_t kUsual = 4 << 20;
    if (room.texts.room() > kUsual) room = Room();  // memory for long texts is not kept
    room.owners.clear();
    room.rows.clear();
    for (const Removal& removal : batch) {
      for (const RecordId row : {removal.record, removal.kept}) {
        room.owners.push_back(input_.classes.text_owner(row));
        room.rows.push_back(row);
      }
    }
    std::uint64_t bytes = 0;
    if (input_.with_texts) {
      bytes = bytes_of(room.owners);
      room.texts.fetch(*input_.kept.texts, room.owners, bytes);
    }
    if (input_.kept.ids) room.ids.fetch(*input_.kept.ids, room.rows, room.rows.size() * kIdBytes);
    JsonWriter json;
    json.reserve(bytes + bytes / 16 + batch.size() * kLineBytes);
    for (const Removal& removal : batch) {
      line(json, removal, room.texts, room.ids);
      json.raw("\n");
    }
    return json.take();
  }

 private:
  static constexpr std::uint64_t kLineBytes = 256;  // without the texts, about

  std::uint64_t bytes_of(std::span<const RecordId> owners) const {
    std::uint64_t bytes = 0;
    for (const RecordId owner : owners) {
      const std::uint64_t known = input_.kept.long_bytes(owner);
      bytes += known > 0 ? known : input_.mean_text_bytes + input_.mean_text_bytes / 8;
    }
    return bytes;
  }

  void line(JsonWriter& json, const Removal& removal, const Values& texts,
            const Values& ids) const {
    json.begin_object().field("row_id", row_number(removal.record) - input_.references);
    value_or_null(json, "id", ids, removal.record);
    json.field("file", files_[file_of(first_rows_, removal.record)]);
    if (removal.method == Method::kSeen) return seen_line(json, removal, texts);
    if (removal.method == Method::kContains) return contains_line(json, removal, texts);
    json.field("duplicate_of_row_id", shown_row(removal.kept, input_.references));
    value_or_null(json, "duplicate_of_id", ids, removal.kept);
    json.field("field", field_);
    if (input_.with_texts) {
      value_or_null(json, "value", texts, input_.classes.text_owner(removal.record));
      value_or_null(json, "matched_value", texts, input_.classes.text_owner(removal.kept));
    }
    json.field("similarity", rounded(removal.similarity));
    json.field("threshold", threshold(removal.method));
    json.field("method", name_of(removal.method));
    if (input_.references > 0) {
      json.field("duplicate_of_file", files_[file_of(first_rows_, removal.kept)]);
      json.field("duplicate_of_reference", row_number(removal.kept) < input_.references);
    }
    json.end();
  }

  void contains_line(JsonWriter& json, const Removal& removal, const Values& texts) const {
    const auto bytes = input_.evidence->get(removal.record);
    const auto evidence = ContainEvidence::decode(bytes.ok() ? bytes->value_or("") : "");
    // Unreadable; the store has counted it.
    if (!evidence) {
      json.field("method", name_of(removal.method)).end();
      return;
    }
    const ReferenceText& reference = input_.contains->reference(evidence->reference);
    json.field("duplicate_of_row_id", reference.row).key("duplicate_of_id");
    if (reference.id) {
      json.value(*reference.id);
    } else {
      json.null();
    }
    json.field("field", field_);
    if (input_.with_texts) {
      value_or_null(json, "value", texts, input_.classes.text_owner(removal.record));
      json.field("matched_value", reference.text);
    }
    json.field("similarity", rounded(removal.similarity));
    json.field("threshold", threshold(removal.method)).field("method", name_of(removal.method));
    json.field("duplicate_of_file", reference.file).field("duplicate_of_reference", true);
    if (input_.with_texts) json.field("passage", evidence->passage);
    json.end();
  }

  // The kept record is not in this run, and nothing was compared.
  void seen_line(JsonWriter& json, const Removal& removal, const Values& texts) const {
    json.key("duplicate_of_row_id").null().key("duplicate_of_id").null();
    json.field("field", field_);
    if (input_.with_texts) {
      value_or_null(json, "value", texts, input_.classes.text_owner(removal.record));
      json.key("matched_value").null();
    }
    json.key("similarity").null().key("threshold").null();
    json.field("method", name_of(removal.method)).end();
  }

  // The similarity that a removal had to reach.
  double threshold(Method method) const {
    switch (method) {
      case Method::kExact:
      case Method::kMinHash:
      case Method::kSimHash: return threshold_of(method, input_.options);
      case Method::kChunk: return 0.0;  // the share one record holds: all records together hold all
      case Method::kContains: return *input_.options.contains;
      case Method::kSeen: break;
    }
    KIN_UNREACHABLE();
  }

  const AuditInput input_;
  std::vector<std::uint64_t> first_rows_;
  std::vector<std::string> files_;
  std::string field_;
};

// Lines with a value of each field's type: the schema of a log or of groups as Parquet or CSV.
std::string removed_example(const AuditInput& input) {
  return fmt::format(
      R"({{"row_id":0,"id":"a","file":"a","duplicate_of_row_id":0,"duplicate_of_id":"a","field":"a",{})"
      R"("similarity":0.5,"threshold":0.5,"method":"a"{}{}}})",
      input.with_texts ? R"("value":"a","matched_value":"a",)" : "",
      input.references > 0 || input.contains != nullptr
          ? R"(,"duplicate_of_file":"a","duplicate_of_reference":true)"
          : "",
      input.contains != nullptr && input.with_texts ? R"(,"passage":"a")" : "");
}
std::string group_example(bool references) {
  return fmt::format(
      R"({{"kept_row_id":0,{}"kept_id":"a","size":0,"members":[{{"row_id":0,"id":"a","similarity":0.5,"method":"a"}}]}})",
      references ? R"("reference":true,)" : "");
}

std::string group_line(std::span<const Removal> group, const Values& ids,
                       std::uint64_t references) {
  JsonWriter json;
  const RecordId kept = group.front().kept;
  json.begin_object().field("kept_row_id", shown_row(kept, references));
  if (references > 0) json.field("reference", row_number(kept) < references);
  value_or_null(json, "kept_id", ids, group.front().kept);
  json.field("size", group.size() + 1).key("members").begin_array();
  for (const Removal& member : group) {
    json.begin_object().field("row_id", shown_row(member.record, references));
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
  if (data::compression_of(stem) != data::Compression::kNone) stem = stem.stem();
  return output.parent_path() / (stem.stem().string() + ".removed.jsonl");
}

// Batches of lines, made side by side and written in order.
class AuditFiles::Log {
 public:
  Log(const AuditInput& input, std::unique_ptr<data::LineOutput> output)
      : input_(input),
        removals_(input.removals),
        lines_(input),
        output_(std::move(output)),
        // About a megabyte of text per batch, so that a thread holds little.
        batch_(std::clamp<std::uint64_t>(
            (1 << 19) / std::max<std::uint64_t>(input.mean_text_bytes, 1), 1, 4096)),
        work_(input.work) {}

  Status work() {
    RemovedLines::Room room;
    for (Piece piece = next(); !piece.removals.empty(); piece = next()) {
      KIN_RETURN_IF_ERROR(output_->append(piece.number, lines_.lines(piece.removals, room)));
      count_work(work_, piece.removals.size());
    }
    return Done{};
  }
  data::LineOutput& output() { return *output_; }

 private:
  struct Piece {
    std::uint64_t number = 0;
    std::span<const Removal> removals;
  };

  // The removals of the next piece; none if there are no more. A piece ends when its long texts
  // reach a megabyte.
  Piece next() {
    constexpr std::uint64_t kMostLong = 1 << 20;
    const std::scoped_lock lock(mutex_);
    const std::size_t begin = begun_;
    std::uint64_t bytes = 0;
    for (; begun_ < removals_.size() && begun_ - begin < batch_; ++begun_) {
      bytes += long_bytes(removals_[begun_]);
      if (bytes > kMostLong && begun_ > begin) break;
    }
    return {pieces_++, removals_.subspan(begin, begun_ - begin)};
  }

  std::uint64_t long_bytes(const Removal& removal) const {
    if (!input_.with_texts) return 0;
    return input_.kept.long_bytes(input_.classes.text_owner(removal.record)) +
           input_.kept.long_bytes(input_.classes.text_owner(removal.kept));
  }

  const AuditInput input_;
  std::span<const Removal> removals_;
  RemovedLines lines_;
  std::unique_ptr<data::LineOutput> output_;
  std::size_t batch_;
  StageWork* work_;
  std::mutex mutex_;  // guards the following
  std::size_t begun_ = 0;
  std::uint64_t pieces_ = 0;
};

class AuditFiles::Groups {
 public:
  Groups(const AuditInput& input, std::unique_ptr<data::LineOutput> output)
      : input_(input), output_(std::move(output)) {}

  // For one thread: later callers have nothing to do.
  Status work() { return begun_.exchange(true) ? Status(Done{}) : write(); }
  data::LineOutput& output() { return *output_; }

 private:
  Status write() {
    const std::vector<Removal>& removals = input_.removals;
    std::vector<std::uint32_t> by_kept;
    for (std::size_t i = 0; i < removals.size(); ++i) {
      if (removals[i].kept != removals[i].record) by_kept.push_back(static_cast<std::uint32_t>(i));
    }
    std::sort(by_kept.begin(), by_kept.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(removals[a].kept, a) < std::tie(removals[b].kept, b);
    });
    std::string lines;
    std::uint64_t piece = 0;
    std::vector<Removal> group;
    for (std::size_t begin = 0; begin < by_kept.size();) {
      group.clear();
      for (; begin < by_kept.size(); ++begin) {
        const Removal& removal = removals[by_kept[begin]];
        if (!group.empty() && group.front().kept != removal.kept) break;
        group.push_back(removal);
      }
      lines += group_line(group, ids_of(group), input_.references);
      if (lines.size() < (1 << 20) && begin < by_kept.size()) continue;
      KIN_RETURN_IF_ERROR(output_->append(piece++, lines));
      lines.clear();
    }
    return Done{};
  }

  Values ids_of(std::span<const Removal> group) const {
    if (!input_.kept.ids) return {};
    std::vector<RecordId> rows{group.front().kept};
    for (const Removal& member : group) rows.push_back(member.record);
    Values ids;
    ids.fetch(*input_.kept.ids, rows, rows.size() * kIdBytes);
    return ids;
  }

  const AuditInput input_;
  std::unique_ptr<data::LineOutput> output_;
  std::atomic<bool> begun_{false};
};

AuditFiles::AuditFiles() = default;
AuditFiles::~AuditFiles() = default;

Result<std::unique_ptr<AuditFiles>> AuditFiles::create(const AuditInput& input,
                                                       const AuditPaths& paths) {
  std::unique_ptr<AuditFiles> files(new AuditFiles());
  const auto open = [&](const fs::path& path, std::string example) {
    return data::LineOutput::create({.target = path,
                                     .temporary_folder = paths.temporary_folder,
                                     .example = std::move(example),
                                     .memory_bytes = paths.memory_bytes});
  };
  if (paths.removed) {
    KIN_TRY(auto output, open(*paths.removed, removed_example(input)));
    files->log_ = std::make_unique<Log>(input, std::move(output));
  }
  if (paths.groups) {
    KIN_TRY(auto output, open(*paths.groups, group_example(input.references > 0)));
    files->groups_ = std::make_unique<Groups>(input, std::move(output));
  }
  return files;
}

Status AuditFiles::work() {
  // First, so that the other threads write the log meanwhile.
  if (groups_) KIN_RETURN_IF_ERROR(groups_->work());
  return log_ ? log_->work() : Status(Done{});
}

Status AuditFiles::finish() {
  if (log_) KIN_RETURN_IF_ERROR(log_->output().finish());
  return groups_ ? groups_->output().finish() : Status(Done{});
}

Status AuditFiles::commit() {
  if (log_) KIN_RETURN_IF_ERROR(log_->output().commit());
  return groups_ ? groups_->output().commit() : Status(Done{});
}

}  // namespace kin::dedup
