// Outputs of a run that go to other machines.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "data/input.h"
#include "data/remote_files.h"
#include "dedup/run.h"

namespace kin::dedup {

// Where outputs are kept until they are sent.
struct UploadPlace {
  std::filesystem::path parent = {};  // of a folder for each set of outputs
  // The address of the service, if it is not the usual one: buckets of the same name on two
  // services are different outputs.
  std::string service = {};
};

// A run writes all of its outputs as files of this machine. Those whose names are addresses
// ("s3://bucket/clean.parquet") are written below a folder, and sent when all of them are complete:
// first their bytes, then each appears under its name, the records last. A run that is killed
// before that leaves nothing visible. One thread only.
class Uploads {
 public:
  // Makes the outputs of `job` that are addresses files below a folder, which has the same name in
  // the next run of the same command, and checks that they can be written. Nothing if
  // all outputs are files. kFailedPrecondition if another run of this machine writes them. Borrows
  // `remote`.
  static Result<std::unique_ptr<Uploads>> redirect(DedupJob& job, data::RemoteFiles& remote,
                                                   const UploadPlace& place);
  // Removes the folder, unless it has a checkpoint that --resume can use.
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  // Sends the existing files, and removes them here. May be called again for files that were
  // written later.
  Status publish();
  // The address that the file at `path` will have; a path outside the folder is returned unchanged.
  std::string shown(const std::filesystem::path& path) const;
  // `text` with addresses instead of local paths.
  std::string shown_in(std::string text) const;

  // An error if a file of the output folder would be one of the inputs, or the folder lies in one
  // that is an input.
  Status check_folder(const std::filesystem::path& folder,
                      std::span<const data::Input> inputs) const;

 private:
  Uploads(data::RemoteFiles& remote, std::filesystem::path folder, File lock);
  std::filesystem::path take(const std::filesystem::path& address);
  std::vector<std::filesystem::path> files() const;

  data::RemoteFiles& remote_;
  std::filesystem::path folder_;
  File lock_;                      // of the folder
  std::filesystem::path records_;  // the output, below the folder; empty if it is not an address
  // Outputs of an earlier run, to be removed if this run has no such file.
  std::optional<std::filesystem::path> stale_;
};

// The name of an output of `job` for people.
std::string shown_name(const DedupJob& job, const std::filesystem::path& output);

}  // namespace kin::dedup
