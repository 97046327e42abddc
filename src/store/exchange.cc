#include "store/exchange.h"

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <numeric>
#include <utility>

#include "base/ascii.h"
#include "base/json_writer.h"
#include "base/time_text.h"
#include "data/dataset.h"
#include "data/line_output.h"
#include "data/text_packer.h"
#include "store/fingerprints/format.h"
#include "store/ledger/format.h"

namespace kin::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatchRows = 1'000;
constexpr std::uint64_t kPieceBytes = 4 << 20;
constexpr std::uint64_t kReadBytes = std::uint64_t{128} << 20;

// Collects lines and writes them in pieces.
class Lines {
 public:
  static Result<Lines> create(const fs::path& target, const fs::path& folder, std::string example) {
    Lines lines;
    KIN_TRY(lines.output_,
            data::LineOutput::create(
                {.target = target, .temporary_folder = folder, .example = std::move(example)}));
    return lines;
  }
  Status add(std::string line) {
    ++count_;
    pending_ += line;
    return pending_.size() < kPieceBytes ? Status(Done{}) : flush();
  }
  Result<std::uint64_t> finish() {
    KIN_RETURN_IF_ERROR(flush());
    KIN_RETURN_IF_ERROR(output_->finish());
    KIN_RETURN_IF_ERROR(output_->commit());
    return count_;
  }

 private:
  Status flush() {
    if (pending_.empty()) return Done{};
    return output_->append(pieces_++, std::exchange(pending_, {}));
  }

  std::unique_ptr<data::LineOutput> output_;
  std::string pending_;
  std::uint64_t pieces_ = 0;
  std::uint64_t count_ = 0;
};

std::string hex_of(const Hash128& hash) {
  return fmt::format("{:016x}{:016x}", hash.high, hash.low);
}

std::string document_line(const Fingerprint& document, std::string_view parameters,
                          const std::optional<std::string_view>& text) {
  JsonWriter json;
  json.begin_object()
      .field("doc", to_string(document.doc))
      .field("id", document.key)
      .field("source", document.source)
      .field("type", document.type)
      .field("language", document.language)
      .field("run", document.run)
      .field("created", iso_time(document.created))
      .field("content", document.content ? hex_of(*document.content) : std::string())
      .field("chunks", document.chunks.size())
      .field("parameters", parameters)
      .field("text", text)
      .field("encoded", to_hex(encode_fingerprint(document)));
  return json.end().take() + "\n";
}

std::string entry_line(const LedgerEntry& entry) {
  JsonWriter json;
  json.begin_object()
      .field("doc", to_string(entry.doc))
      .field("id", entry.key)
      .field("source", entry.source)
      .field("run", entry.run)
      .field("worker", entry.worker)
      .field("row", entry.row)
      .field("at", iso_time(entry.at))
      .field("status", name_of(entry.outcome))
      .field("reason", entry.reason)
      .field("duplicate_of", entry.duplicate_of ? to_string(*entry.duplicate_of) : std::string())
      .field("method", entry.method)
      .field("similarity", entry.similarity)
      .field("version", entry.version)
      .field("encoded", to_hex(encode_entry(entry)));
  return json.end().take() + "\n";
}

// Calls visit(where, values) for every row of a file; the values are those of `columns`.
using Row = std::vector<std::optional<std::string_view>>;
using VisitRow = std::function<Status(const std::string& where, const Row& values)>;
Status each_row(const fs::path& source, const fs::path& folder, std::vector<std::string> columns,
                const VisitRow& visit) {
  KIN_TRY(std::vector<data::Input> inputs,
          data::find_inputs(std::vector<std::string>{source.string()}, folder));
  data::DatasetOptions how;
  how.memory_bytes = kReadBytes;
  how.temporary_folder = folder;
  KIN_TRY(const auto dataset, data::Dataset::open(std::move(inputs), how));
  if (dataset->rows() == 0) return Done{};
  data::ScanOptions scan;
  scan.columns = std::move(columns);
  scan.may_be_empty = true;
  Row row(scan.columns.size());
  KIN_RETURN_IF_ERROR(dataset->scan(scan, [&](const data::Batch& batch, int) -> Status {
    for (std::size_t i = 0; i < batch.size(); ++i) {
      for (std::size_t c = 0; c < row.size(); ++c) row[c] = batch.value(c, i);
      KIN_RETURN_IF_ERROR(visit(batch.where(i), row));
    }
    return Done{};
  }));
  return Done{};
}

// The inverse of to_hex().
Result<std::string> bytes_of(const std::string& where, std::optional<std::string_view> hex) {
  const Error damaged{Code::kDataLoss,
                      where + ": not what kindred store export wrote (export it again)"};
  if (!hex || hex->size() % 2 != 0) return damaged;
  std::string bytes;
  for (std::size_t i = 0; i < hex->size(); i += 2) {
    const int high = hex_value((*hex)[i]);
    const int low = hex_value((*hex)[i + 1]);
    if (high < 0 || low < 0) return damaged;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

// The parameters of the rows, which must all be the same.
class ParametersOfRows {
 public:
  Status add(const std::string& where, std::optional<std::string_view> hex) {
    if (hex && hex == seen_) return Done{};
    KIN_TRY(const std::string bytes, bytes_of(where, hex));
    auto parameters = decode_parameters(bytes);
    if (!parameters) return with_context(where, parameters.error());
    if (parameters_) KIN_RETURN_IF_ERROR(check_same(*parameters_, *parameters, where));
    parameters_ = std::move(*parameters);
    seen_ = std::string(*hex);
    return Done{};
  }
  const std::optional<FingerprintParameters>& get() const { return parameters_; }

 private:
  std::optional<std::string> seen_;
  std::optional<FingerprintParameters> parameters_;
};

Status admit_all(FingerprintStore& store, std::vector<Fingerprint>& batch) {
  if (batch.empty()) return Done{};
  std::vector<std::size_t> chosen(batch.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  KIN_TRY(const Found found, store.find(batch));
  // Nothing is judged: the exporting store has admitted all of them.
  const auto never = [](const Fingerprint&, const Fingerprint&) -> Result<bool> { return false; };
  KIN_RETURN_IF_ERROR(store.admit(batch, found, chosen, never));
  batch.clear();
  return Done{};
}

}  // namespace

Result<std::uint64_t> export_fingerprints(FingerprintStore& store, const fs::path& target,
                                          const fs::path& folder) {
  const std::string parameters = to_hex(encode_parameters(store.parameters()));
  Fingerprint example;
  example.chunks.resize(1);
  KIN_TRY(Lines lines,
          Lines::create(target, folder, document_line(example, parameters, std::string_view("x"))));
  data::TextPacker packer;
  KIN_RETURN_IF_ERROR(store.each([&](const Fingerprint& document) -> Status {
    std::optional<std::string_view> text;
    if (!document.packed_text.empty()) {
      KIN_TRY(text, packer.unpack(document.packed_text, std::numeric_limits<std::uint32_t>::max()));
    }
    return lines.add(document_line(document, parameters, text));
  }));
  return lines.finish();
}

Result<std::uint64_t> export_ledger(Ledger& ledger, const fs::path& target,
                                    const fs::path& folder) {
  LedgerEntry example;
  example.similarity = 0.5;
  KIN_TRY(Lines lines, Lines::create(target, folder, entry_line(example)));
  KIN_RETURN_IF_ERROR(
      ledger.each([&](const LedgerEntry& entry) { return lines.add(entry_line(entry)); }));
  return lines.finish();
}

Result<std::optional<FingerprintParameters>> exported_parameters(const fs::path& source,
                                                                 const fs::path& folder) {
  ParametersOfRows parameters;
  KIN_RETURN_IF_ERROR(each_row(
      source, folder, {"parameters"},
      [&](const std::string& where, const Row& row) { return parameters.add(where, row[0]); }));
  return parameters.get();
}

Result<std::uint64_t> import_fingerprints(const fs::path& source, FingerprintStore& store,
                                          const fs::path& folder) {
  ParametersOfRows parameters;
  data::TextPacker packer;
  std::vector<Fingerprint> batch;
  std::uint64_t count = 0;
  const auto take = [&](const std::string& where, const Row& row) -> Status {
    KIN_RETURN_IF_ERROR(parameters.add(where, row[0]));
    KIN_RETURN_IF_ERROR(check_same(store.parameters(), *parameters.get(), "the store"));
    KIN_TRY(const std::string bytes, bytes_of(where, row[2]));
    auto document = decode_fingerprint(bytes);
    if (!document) return with_context(where, document.error());
    if (row[1]) document->packed_text = packer.pack(*row[1]);
    batch.push_back(std::move(*document));
    ++count;
    return batch.size() < kBatchRows ? Status(Done{}) : admit_all(store, batch);
  };
  KIN_RETURN_IF_ERROR(each_row(source, folder, {"parameters", "text", "encoded"}, take));
  KIN_RETURN_IF_ERROR(admit_all(store, batch));
  return count;
}

Result<std::uint64_t> import_ledger(const fs::path& source, Ledger& ledger,
                                    const fs::path& folder) {
  std::vector<LedgerEntry> batch;
  std::uint64_t count = 0;
  const auto record = [&]() -> Status {
    if (!batch.empty()) KIN_RETURN_IF_ERROR(ledger.record_processed(batch));
    batch.clear();
    return Done{};
  };
  const auto take = [&](const std::string& where, const Row& row) -> Status {
    KIN_TRY(const std::string bytes, bytes_of(where, row[0]));
    auto entry = decode_entry(bytes);
    if (!entry) return with_context(where, entry.error());
    batch.push_back(std::move(*entry));
    ++count;
    return batch.size() < kBatchRows ? Status(Done{}) : record();
  };
  KIN_RETURN_IF_ERROR(each_row(source, folder, {"encoded"}, take));
  KIN_RETURN_IF_ERROR(record());
  return count;
}

}  // namespace kin::store
