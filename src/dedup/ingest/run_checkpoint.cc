#include "dedup/ingest/run_checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/disk.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json_writer.h"
#include "data/json_fields.h"
#include "data/remote_files.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::string_view kBegin = "{\"checksum\":\"";
constexpr std::string_view kMiddle = "\",\"checkpoint\":";
constexpr std::string_view kEnd = "}\n";
constexpr std::size_t kChecksumDigits = 16;
constexpr std::uint64_t kSampled = 64 << 10;
constexpr std::array kAllActions{Action::kKeep, Action::kDrop, Action::kKeepLink, Action::kSkip};

std::string checksum_of(std::string_view body) {
  return fmt::format("{:016x}", checksum(body));
}

// The first and the last bytes distinguish files of one size, unless these differ only in the
// middle; a digest of whole files would have to read them twice.
Result<std::string> digest_of(const data::Input& input) {
  KIN_TRY(const File file, data::open_input(input));
  const std::uint64_t part = std::min(kSampled, input.bytes);
  std::string bytes(2 * part, '\0');
  KIN_RETURN_IF_ERROR(file.read_at(0, bytes.data(), part));
  KIN_RETURN_IF_ERROR(file.read_at(input.bytes - part, bytes.data() + part, part));
  return fmt::format("{:016x}", hash64(bytes, input.bytes));
}

Result<std::vector<IngestState::InputFile>> describe(const std::vector<data::Input>& inputs) {
  std::vector<IngestState::InputFile> files;
  for (const data::Input& input : inputs) {
    IngestState::InputFile file{.name = input.shown_as,
                                .place = input.relative.string(),
                                .bytes = input.bytes,
                                .digest = {},
                                .records = 0};
    KIN_TRY(file.digest, digest_of(input));
    files.push_back(std::move(file));
  }
  return files;
}

Status check_same(const IngestState& before, const IngestState& now, const std::string& where) {
  const auto changed = [&](const std::string& what) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is of a run with {} (give each part of a run a --worker name of "
                             "its own, or use another --run)",
                             where, what)};
  };
  if (before.settings != now.settings) return changed("other options");
  if (before.files.size() != now.files.size())
    return changed(fmt::format("{} inputs, not {}", before.files.size(), now.files.size()));
  for (std::size_t i = 0; i < now.files.size(); ++i) {
    const IngestState::InputFile& a = before.files[i];
    const IngestState::InputFile& b = now.files[i];
    if (a.bytes != b.bytes || a.digest != b.digest)
      return changed(fmt::format("another input than {}: {}", b.name, a.name));
  }
  return Done{};
}

void write_file(JsonWriter& json, const IngestState::InputFile& file) {
  json.begin_object()
      .field("name", file.name)
      .field("place", file.place)
      .field("bytes", file.bytes)
      .field("digest", file.digest)
      .field("records", file.records)
      .end();
}

}  // namespace

std::string encode_ingest_state(const IngestState& state) {
  JsonWriter json(2);
  json.begin_object()
      .field("version", kVersion)
      .field("run", state.run)
      .field("worker", state.worker)
      .field("attempt", state.attempt)
      .field("done", state.done)
      .field("settings", state.settings);
  json.key("files").begin_array();
  for (const IngestState::InputFile& file : state.files) write_file(json, file);
  json.end();
  json.key("sources").begin_array();
  for (const auto& [source, records] : state.sources)
    json.begin_object().field("source", source).field("records", records).end();
  json.end();
  json.key("counts").begin_object();
  for (const Action action : kAllActions)
    json.field(name_of(action), state.decided[static_cast<std::size_t>(action)]);
  json.end();
  const std::string body = json.end().take();
  return fmt::format("{}{}{}{}{}", kBegin, checksum_of(body), kMiddle, body, kEnd);
}

Result<IngestState> decode_ingest_state(std::string_view bytes) {
  const Error damaged{Code::kDataLoss, "the checkpoint is damaged (run without --resume)"};
  const std::size_t head = kBegin.size() + kChecksumDigits + kMiddle.size();
  if (bytes.size() < head + kEnd.size() || !bytes.starts_with(kBegin) || !bytes.ends_with(kEnd))
    return damaged;
  if (bytes.substr(kBegin.size() + kChecksumDigits, kMiddle.size()) != kMiddle) return damaged;
  const std::string_view body = bytes.substr(head, bytes.size() - head - kEnd.size());
  if (bytes.substr(kBegin.size(), kChecksumDigits) != checksum_of(body)) return damaged;
  KIN_TRY(const data::JsonValue json, data::parse_json(body));
  data::JsonFields fields(json);
  IngestState state;
  std::uint64_t version = 0;
  fields.read("version", version);
  if (fields.status() && version != kVersion) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("the checkpoint has format {}, and this program reads {} (use the "
                             "program that wrote it)",
                             version, kVersion)};
  }
  for (const char* name : {"run", "worker", "attempt", "done", "settings", "files"})
    fields.require(name);
  fields.read("run", state.run);
  fields.read("worker", state.worker);
  fields.read("attempt", state.attempt);
  fields.read("done", state.done);
  fields.read("settings", state.settings);
  fields.read_objects("files", [&](data::JsonFields& one) {
    IngestState::InputFile file;
    one.read("name", file.name);
    one.read("place", file.place);
    one.read("bytes", file.bytes);
    one.read("digest", file.digest);
    one.read("records", file.records);
    state.files.push_back(std::move(file));
  });
  fields.read_objects("sources", [&](data::JsonFields& one) {
    std::string source;
    std::uint64_t records = 0;
    one.read("source", source);
    one.read("records", records);
    state.sources[source] = records;
  });
  fields.read_object("counts", [&](data::JsonFields& counts) {
    for (const Action action : kAllActions)
      counts.read(name_of(action), state.decided[static_cast<std::size_t>(action)]);
  });
  KIN_RETURN_IF_ERROR(fields.status());
  return state;
}

std::string checkpoint_name(const IngestJob& job) {
  const auto escaped = [](std::string_view text) {
    std::string name;
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || c == '-' || c == '_');
      name += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
    }
    return name;
  };
  return escaped(job.run) + (job.named_worker ? "." + escaped(job.worker) : "") + ".json";
}

RunCheckpoint::RunCheckpoint(std::string where, data::RemoteFiles* remote, double seconds,
                             Clock& clock)
    : where_(std::move(where)),
      remote_(remote),
      seconds_(seconds),
      clock_(clock),
      saved_(clock.steady_now()) {}

Result<std::unique_ptr<RunCheckpoint>> RunCheckpoint::open(const IngestJob& job,
                                                           const std::vector<data::Input>& inputs,
                                                           Clock& clock) {
  const DedupOptions& options = job.dedup.options;
  const bool remote = data::is_remote(job.checkpoints);
  std::string where = job.checkpoints;
  while (where.ends_with('/')) where.pop_back();
  where += "/" + checkpoint_name(job);
  std::unique_ptr<RunCheckpoint> checkpoint(new RunCheckpoint(
      where, remote ? options.remote : nullptr, options.checkpoint_seconds, clock));
  if (!remote) KIN_RETURN_IF_ERROR(system_disk().make_folder(fs::path(where).parent_path()));
  IngestState& state = checkpoint->state_;
  state.run = job.run;
  state.worker = job.worker;
  state.settings = version_of(fingerprint_parameters(options));
  KIN_TRY(state.files, describe(inputs));
  KIN_TRY(const auto before, checkpoint->load());
  if (!before && options.resume) {
    return Error{Code::kNotFound,
                 fmt::format("there is no checkpoint {} to resume (run without --resume)", where)};
  }
  if (before) {
    KIN_RETURN_IF_ERROR(check_same(*before, state, where));
    if (!options.resume && before->worker != job.worker) {
      return Error{
          Code::kFailedPrecondition,
          fmt::format("{} says that run {} was begun elsewhere, as worker {} (use --resume to take "
                      "it over once that worker has stopped)",
                      where, job.run, before->worker)};
    }
    state.worker = before->worker;
    state.attempt = before->attempt + 1;
    for (std::size_t i = 0; i < state.files.size(); ++i)
      state.files[i].name = before->files[i].name;
  }
  KIN_RETURN_IF_ERROR(checkpoint->write(state));
  return checkpoint;
}

std::vector<std::string> RunCheckpoint::names() const {
  std::vector<std::string> names;
  for (const IngestState::InputFile& file : state_.files) names.push_back(file.name);
  return names;
}

Result<std::optional<IngestState>> RunCheckpoint::load() const {
  std::optional<std::string> bytes;
  if (remote_ != nullptr) {
    KIN_TRY(bytes, remote_->read(where_));
  } else {
    KIN_TRY(const bool there, file_exists(where_));
    if (there) {
      KIN_TRY(bytes, read_file(where_));
    }
  }
  if (!bytes) return std::optional<IngestState>();
  auto state = decode_ingest_state(*bytes);
  if (!state) return with_context(where_, state.error());
  return std::optional(std::move(*state));
}

Status RunCheckpoint::write(const IngestState& state) const {
  std::string bytes = encode_ingest_state(state);
  return remote_ != nullptr ? remote_->write(where_, std::move(bytes))
                            : write_file_atomically(where_, bytes);
}

Status RunCheckpoint::add(const std::vector<Taken>& batch, const IngestReport& report) {
  for (const Taken& taken : batch) {
    ++state_.files[taken.file].records;
    ++state_.sources[taken.fingerprint.source];
  }
  return clock_.seconds_since(saved_) >= seconds_ ? save(report) : Status(Done{});
}

// Not a lock: two attempts may save at the same moment, and the earlier one stops at its next save.
// Records that both process meanwhile are decided once, by the ledger.
Status RunCheckpoint::save(const IngestReport& report) {
  KIN_TRY(const auto now, load());
  if (now && now->attempt != state_.attempt) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{}: another worker has taken run {} over, as attempt {} (this one "
                             "writes nothing more)",
                             where_, state_.run, now->attempt)};
  }
  state_.decided = report.decided;
  KIN_RETURN_IF_ERROR(write(state_));
  saved_ = clock_.steady_now();
  return Done{};
}

Status RunCheckpoint::finish(const IngestReport& report) {
  state_.done = true;
  return save(report);
}

}  // namespace kin::dedup
