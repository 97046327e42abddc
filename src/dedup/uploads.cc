#include "dedup/uploads.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file.h"
#include "base/hash.h"
#include "dedup/outputs.h"

namespace kin::dedup {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kScheme = "s3://";

// Whether a run left a checkpoint to continue from.
bool has_checkpoint(const fs::path& folder) {
  std::error_code ignored;  // a path that cannot be examined counts as missing
  for (auto at = fs::recursive_directory_iterator(folder, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (at->path().filename() == kCheckpointName) return true;
  }
  return false;
}

bool is_own(const fs::path& relative) {
  return std::any_of(relative.begin(), relative.end(), [](const fs::path& part) {
    return part.native().starts_with('.') && part.native().find("kindred") != std::string::npos;
  });
}

// Makes the folder if it is missing. Another process may remove it at the same time, so it is
// tried again.
Result<File> make_locked(const fs::path& folder) {
  const fs::path name = folder / ".kindred-lock";
  for (;;) {
    std::error_code failure;
    fs::create_directories(folder, failure);
    if (failure) return system_error("make", folder, failure.value());
    auto lock = File::open_to_update(name);
    if (!lock) return lock;
    if (!lock->lock()) {
      return Error{Code::kFailedPrecondition,
                   "another run is writing to the same outputs (wait for it, or choose others)"};
    }
    if (fs::exists(name, failure)) return lock;
  }
}

Status check_address(const fs::path& address) {
  const std::string rest = address.string().substr(kScheme.size());
  const std::size_t slash = rest.find('/');
  if (slash != 0 && slash != std::string::npos && slash + 1 < rest.size()) {
    const fs::path parts(rest);
    const bool plain = std::none_of(parts.begin(), parts.end(), [](const fs::path& part) {
      return part == "." || part == "..";
    });
    if (plain && rest.find("//") == std::string::npos) return Done{};
  }
  return Error{
      Code::kInvalidArgument,
      fmt::format("{} is not an address of an output (write s3://BUCKET/NAME, without empty "
                  "parts, . and ..)",
                  address.string())};
}

}  // namespace

Uploads::Uploads(data::RemoteFiles& remote, fs::path folder, File lock)
    : remote_(remote), folder_(std::move(folder)), lock_(std::move(lock)) {}

Uploads::~Uploads() {
  std::error_code ignored;  // the next run of the same command removes or uses leftovers
  if (!has_checkpoint(folder_)) fs::remove_all(folder_, ignored);
}

fs::path Uploads::take(const fs::path& address) {
  return folder_ / address.string().substr(kScheme.size());
}

Result<std::unique_ptr<Uploads>> Uploads::redirect(DedupJob& job, data::RemoteFiles& remote,
                                                   const UploadPlace& place) {
  std::vector<fs::path*> outputs{&job.output};
  for (auto* output : {&job.removed_output, &job.quarantine_output, &job.groups_output,
                       &job.cut_output, &job.report_output}) {
    if (*output) outputs.push_back(&**output);
  }
  std::string all = place.service + job.output.string();
  for (const fs::path* output : outputs) all += "\n" + output->string();
  std::erase_if(outputs, [](const fs::path* output) { return !data::is_remote(*output); });
  if (outputs.empty()) return std::unique_ptr<Uploads>();
  std::error_code failure;
  const fs::path whole = fs::absolute(place.parent, failure);
  if (failure) return system_error("find", place.parent, failure.value());
  const fs::path folder = whole / fmt::format(".kindred-uploads-{:016x}", hash64(all));
  KIN_TRY(File lock, make_locked(folder));
  std::unique_ptr<Uploads> uploads(new Uploads(remote, folder, std::move(lock)));
  // Files of a run that was killed while it sent them.
  for (const fs::path& left : uploads->files()) fs::remove(left, failure);
  for (fs::path* output : outputs) {
    KIN_RETURN_IF_ERROR(check_address(*output));
    const bool is_folder = output->string().ends_with('/');
    KIN_RETURN_IF_ERROR(
        remote.check_writable(is_folder ? output->string() + ".kindred-check" : output->string()));
    const fs::path path = uploads->take(*output);
    fs::create_directories(is_folder ? path : path.parent_path(), failure);
    if (failure) return system_error("make", path.parent_path(), failure.value());
    if (output == &job.output) uploads->records_ = path;
    *output = path;
  }
  if (!job.quarantine_output && !uploads->records_.empty())
    uploads->stale_ = quarantine_output_of(job);
  job.uploads = uploads.get();
  return uploads;
}

std::vector<fs::path> Uploads::files() const {
  std::vector<fs::path> files;
  std::error_code ignored;  // a folder that cannot be listed has no outputs; the run wrote them
  for (auto at = fs::recursive_directory_iterator(folder_, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (at->is_regular_file(ignored) && !is_own(at->path().lexically_relative(folder_)))
      files.push_back(at->path());
  }
  const std::string records = records_.string();
  // The records last, so that all other outputs are there when they appear.
  std::sort(files.begin(), files.end(), [&](const fs::path& a, const fs::path& b) {
    const auto rank = [&](const fs::path& path) {
      const bool last =
          !records.empty() &&
          (path == records_ || (records.ends_with('/') && path.string().starts_with(records)));
      return std::pair(last, path.string());
    };
    return rank(a) < rank(b);
  });
  return files;
}

Status Uploads::publish() {
  const std::vector<fs::path> files = this->files();
  std::vector<std::unique_ptr<data::RemoteUpload>> sent;
  for (const fs::path& file : files) {
    KIN_TRY(auto upload, remote_.upload(file, shown(file)));
    sent.push_back(std::move(upload));
  }
  // A file that an earlier run left under this name would be taken for this run's.
  if (stale_ && std::find(files.begin(), files.end(), *stale_) == files.end())
    KIN_RETURN_IF_ERROR(remote_.remove(shown(*stale_)));
  stale_.reset();
  for (const auto& upload : sent) KIN_RETURN_IF_ERROR(upload->publish());
  sent.clear();
  std::error_code ignored;  // the destructor tries again
  for (const fs::path& file : files) fs::remove(file, ignored);
  return Done{};
}

std::string Uploads::shown(const fs::path& path) const {
  const std::string prefix = folder_.string() + "/";
  const std::string name = path.string();
  return name.starts_with(prefix) ? std::string(kScheme) + name.substr(prefix.size()) : name;
}

std::string Uploads::shown_in(std::string text) const {
  const std::string prefix = folder_.string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at))
    text.replace(at, prefix.size(), kScheme);
  return text;
}

Status Uploads::check_folder(const fs::path& folder, std::span<const data::Input> inputs) const {
  std::string address = shown(folder);
  if (!address.ends_with('/')) address += '/';
  if (!data::is_remote(address)) return Done{};
  for (const data::Input& input : inputs) {
    std::string named = input.named_folder.string();
    if (!named.empty() && !named.ends_with('/')) named += '/';
    if (!named.empty() && address.starts_with(named)) {
      return Error{Code::kInvalidArgument,
                   fmt::format("the output folder {} lies in {}, which is an input: the next run "
                               "would read its own outputs (choose a folder outside)",
                               address, named)};
    }
    if (address + input.relative.string() != input.path.string()) continue;
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is an input and an output (inputs are never changed: choose "
                             "another folder)",
                             input.shown_as)};
  }
  return Done{};
}

std::string shown_name(const DedupJob& job, const fs::path& output) {
  return job.uploads == nullptr ? output.string() : job.uploads->shown(output);
}

}  // namespace kin::dedup
