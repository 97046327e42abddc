// Shards in, shards out: one output for each input, in a folder.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/record_set.h"
#include "base/result.h"
#include "data/dataset.h"

namespace kin::dedup {

// Outputs with the names, places and formats of the inputs. They are written to a hidden folder in
// the output folder, and renamed when all of them are complete. A run that is killed between two
// renames leaves some of them; running it again replaces them all. Destroyed without commit(), it
// leaves no file of its own. One thread only.
class Shards {
 public:
  // Makes the folder if it is missing. An error if two outputs would have one name, if an output is
  // an input, if the folder lies in a folder that is an input, or if another run writes to it.
  // Removes half-written outputs of a killed run.
  static Result<Shards> open(const std::filesystem::path& folder,
                             std::span<const data::Input> inputs);
  Shards(Shards&& other) noexcept;
  Shards& operator=(Shards&&) = delete;
  ~Shards();

  // Writes the kept records of every input of `dataset`, which has been scanned. If there are
  // enough files, several are written at a time, each by one thread, and the memory of `options` is
  // divided among them. The notes are those of all outputs.
  Result<data::WriteReport> write(const data::Dataset& dataset, const RecordSet& keep,
                                  const data::WriteOptions& how,
                                  const data::DatasetOptions& options);
  // Renames all outputs into place.
  Status commit();

 private:
  Shards(std::filesystem::path folder, std::vector<std::filesystem::path> made, File lock);
  Result<data::WriteReport> write_one(const data::Dataset& dataset, const RecordSet& keep,
                                      std::size_t file, const data::WriteOptions& how,
                                      const data::DatasetOptions& options) const;
  std::filesystem::path staged(std::size_t file) const;

  std::filesystem::path folder_;
  std::vector<std::filesystem::path> made_;  // folders that open() made, the deepest first
  std::vector<std::filesystem::path> targets_;
  std::optional<File> lock_;
};

}  // namespace kin::dedup
