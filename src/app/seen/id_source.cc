#include "app/seen/id_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "app/seen/line_source.h"
#include "base/file.h"
#include "base/locked_folder.h"

namespace kin::app {
namespace {

Error stopped() {
  return {Code::kCancelled, "stopped"};
}

// Ids in a column of datasets.
class ColumnSource : public IdSource {
 public:
  static Result<std::unique_ptr<IdSource>> open(const IdSourceOptions& options) {
    KIN_TRY(LockedFolder folder, LockedFolder::create(options.temporary_folder));
    KIN_TRY(std::vector<data::Input> inputs, data::find_inputs(options.files, folder.path()));
    std::uint64_t bytes = 0;
    for (const data::Input& input : inputs) bytes += input.bytes;
    data::DatasetOptions how;
    how.temporary_folder = folder.path();
    KIN_TRY(auto dataset, data::Dataset::open(std::move(inputs), how));
    auto source =
        std::make_unique<ColumnSource>(std::move(folder), std::move(dataset), *options.column);
    source->on_error_ = options.on_error;
    KIN_RETURN_IF_ERROR(source->check_header());
    source->progress_.bytes_total = bytes;
    return std::unique_ptr<IdSource>(std::move(source));
  }

  ColumnSource(LockedFolder folder, std::unique_ptr<data::Dataset> dataset, std::string column)
      : folder_(std::move(folder)), dataset_(std::move(dataset)), column_(std::move(column)) {}

  Status read(const std::atomic<bool>& stop, const Take& take) override {
    data::ScanOptions options;
    options.columns = {column_};
    options.optional_columns = 1;  // so that missing ids are reported here
    options.on_error = on_error_;
    options.pause = [&stop] { return stop.load(); };
    const auto end = dataset_->scan(options, [&](const data::Batch& batch, int) {
      return stop ? Status(stopped()) : visit(batch, take);
    });
    if (lacks_id_) return lacks_id(*lacks_id_);
    if (!end) return end.error();
    return end->finished ? Status(Done{}) : Status(stopped());
  }

  std::uint64_t skipped() const override { return dataset_->skipped().count + without_id_; }

 private:
  // A CSV file has one list of columns for all records: a misspelt name is found at once.
  Status check_header() {
    const data::Format format = dataset_->inputs().front().type.format;
    if (format != data::Format::kCsv && format != data::Format::kTsv) return Done{};
    KIN_TRY(const std::vector<std::string> columns, dataset_->columns());
    if (std::find(columns.begin(), columns.end(), column_) != columns.end()) return Done{};
    return Error{
        Code::kInvalidArgument,
        fmt::format("{} has no column \"{}\" (use another --column; there are: {})",
                    dataset_->inputs().front().shown_as, column_, fmt::join(columns, ", "))};
  }

  Status visit(const data::Batch& records, const Take& take) {
    IdBatch batch;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < records.size() && !lacks_id_; ++i) {
      const auto id = records.value(0, i);
      if (id && !id->empty()) {
        batch.ids.push_back(*id);
        places.push_back(i);
      } else if (on_error_ == data::OnError::kSkip) {
        ++without_id_;
      } else {
        // The ids before it are still processed.
        lacks_id_ = records.where(i);
      }
    }
    batch.where = [&](std::size_t i) { return records.where(places[i]); };
    KIN_RETURN_IF_ERROR(take(batch));
    progress_.bytes_done += records.bytes();
    return lacks_id_ ? Status(stopped()) : Status(Done{});
  }

  // Called when the scan is over: a dataset does one thing at a time.
  Error lacks_id(const std::string& where) {
    const auto columns = dataset_->columns();
    const std::string known =
        columns ? fmt::format("; there are: {}", fmt::join(*columns, ", ")) : std::string();
    return {Code::kInvalidArgument,
            fmt::format("{}: the column \"{}\" is missing or empty (use another --column, or "
                        "--on-error skip to leave such records out{})",
                        where, column_, known)};
  }

  LockedFolder folder_;
  std::unique_ptr<data::Dataset> dataset_;
  std::string column_;
  data::OnError on_error_ = data::OnError::kFail;
  std::uint64_t without_id_ = 0;
  std::optional<std::string> lacks_id_;  // where
};

}  // namespace

Result<std::unique_ptr<IdSource>> IdSource::open(const IdSourceOptions& options) {
  IdSourceOptions asked = options;
  if (asked.files.empty()) asked.files = {"-"};
  return asked.column ? ColumnSource::open(asked) : LineSource::open(asked);
}

}  // namespace kin::app
