#include "app/id_source.h"

#include <fmt/format.h>

#include "app/line_source.h"
#include "base/file.h"

namespace kin::app {
namespace {

Error stopped() {
  return {Code::kCancelled, "stopped"};
}

// Ids in a column of datasets.
class ColumnSource : public IdSource {
 public:
  static Result<std::unique_ptr<IdSource>> open(const IdSourceOptions& options) {
    KIN_TRY(TemporaryFolder folder, TemporaryFolder::create(options.temporary_folder));
    KIN_TRY(std::vector<data::Input> inputs, data::find_inputs(options.files, folder.path()));
    std::uint64_t bytes = 0;
    for (const data::Input& input : inputs) bytes += input.bytes;
    data::DatasetOptions how;
    how.temporary_folder = folder.path();
    KIN_TRY(auto dataset, data::Dataset::open(std::move(inputs), how));
    auto source =
        std::make_unique<ColumnSource>(std::move(folder), std::move(dataset), *options.column);
    source->on_error_ = options.on_error;
    source->progress_.bytes_total = bytes;
    return std::unique_ptr<IdSource>(std::move(source));
  }

  ColumnSource(TemporaryFolder folder, std::unique_ptr<data::Dataset> dataset, std::string column)
      : folder_(std::move(folder)), dataset_(std::move(dataset)), column_(std::move(column)) {}

  Status read(const std::atomic<bool>& stop, const Take& take) override {
    data::ScanOptions options;
    options.columns = {column_};
    options.on_error = on_error_;
    options.pause = [&stop] { return stop.load(); };
    KIN_TRY(const data::ScanEnd end, dataset_->scan(options, [&](const data::Batch& batch, int) {
      return stop ? Status(stopped()) : visit(batch, take);
    }));
    if (!end.finished) return stopped();
    return Done{};
  }

  std::uint64_t skipped() const override { return dataset_->skipped().count + without_id_; }

 private:
  Status visit(const data::Batch& records, const Take& take) {
    IdBatch batch;
    std::vector<std::size_t> places;
    std::optional<Error> problem;
    for (std::size_t i = 0; i < records.size() && !problem; ++i) {
      const auto id = records.value(0, i);
      if (id && !id->empty()) {
        batch.ids.push_back(*id);
        places.push_back(i);
      } else if (on_error_ == data::OnError::kSkip) {
        ++without_id_;
      } else {
        problem = Error{Code::kInvalidArgument,
                        fmt::format("{}: the column \"{}\" is empty (use --on-error skip to leave "
                                    "such records out)",
                                    records.where(i), column_)};
      }
    }
    batch.where = [&](std::size_t i) { return records.where(places[i]); };
    KIN_RETURN_IF_ERROR(take(batch));
    progress_.bytes_done += records.bytes();
    if (problem) return *problem;
    return Done{};
  }

  TemporaryFolder folder_;
  std::unique_ptr<data::Dataset> dataset_;
  std::string column_;
  data::OnError on_error_ = data::OnError::kFail;
  std::uint64_t without_id_ = 0;
};

}  // namespace

Result<std::unique_ptr<IdSource>> IdSource::open(const IdSourceOptions& options) {
  IdSourceOptions asked = options;
  if (asked.files.empty()) asked.files = {"-"};
  return asked.column ? ColumnSource::open(asked) : LineSource::open(asked);
}

}  // namespace kin::app
