#include "dedup/ingest/taker.h"

#include "base/workers.h"
#include "sketch/chunks.h"

namespace kin::dedup {
namespace {

// With fewer records, starting a thread does not pay.
constexpr std::size_t kWorthAThread = 64;

}  // namespace

std::vector<std::string> columns_of(const IngestJob& job, const DedupOptions& options) {
  std::vector<std::string> columns = options.fields;
  for (const auto* column :
       {&options.id_column, &options.source_column, &job.type_column, &job.language_column}) {
    if (*column) columns.push_back(**column);
  }
  return columns;
}

RecordTaker::RecordTaker(const IngestJob& job, const DedupOptions& options)
    : job_(job), options_(options) {
  for (int i = 0; i < options.threads; ++i)
    sketchers_.push_back(std::make_unique<KnownSketcher>(options));
}

Taken RecordTaker::take_one(KnownSketcher& sketcher, const data::Batch& batch, std::size_t record,
                            WallTime now) const {
  const KnownSketcher::Sketched sketched = sketcher.sketch(batch, record);
  Taken taken;
  taken.row = batch.row(record);
  taken.where = batch.where(record);
  taken.file = batch.file();
  store::Fingerprint& made = taken.fingerprint;
  std::size_t column = options_.fields.size() + (options_.id_column ? 1 : 0);
  const auto value = [&](const std::optional<std::string>& named) {
    if (!named) return std::string();
    return std::string(batch.value(column++, record).value_or(""));
  };
  made.source = value(options_.source_column);
  if (job_.source_name) made.source = *job_.source_name;
  made.type = value(job_.type_column);
  made.language = value(job_.language_column);
  made.run = job_.run;
  made.created = now;
  if (sketched.text) {
    taken.has_text = true;
    KnownSketcher::fill(sketched, made);
    if (options_.detectors.chunk) {
      for (const sketch::Chunk& chunk : sketch::chunks(*sketched.text, options_.chunks))
        made.chunks.push_back(chunk.sha256);
    }
  } else {
    // Records without an id are the same document if their text is the same.
    made.key = sketched.id.value_or(taken.where);
  }
  made.doc = doc_id_of(made.source, made.key);
  return taken;
}

Status RecordTaker::take(const data::Batch& batch, WallTime now, std::vector<Taken>& taken) {
  const std::size_t first = taken.size();
  taken.resize(first + batch.size());
  const std::size_t workers =
      std::clamp<std::size_t>(batch.size() / kWorthAThread, 1, sketchers_.size());
  return run_workers(static_cast<int>(workers), [&](int worker) -> Status {
    const auto number = static_cast<std::size_t>(worker);
    const std::size_t end = batch.size() * (number + 1) / workers;
    for (std::size_t i = batch.size() * number / workers; i < end; ++i)
      taken[first + i] = take_one(*sketchers_[number], batch, i, now);
    return Done{};
  });
}

}  // namespace kin::dedup
