#include "app/data_folder.h"

#include <algorithm>
#include <cstdlib>

#include "embed/open_embedder.h"

namespace kin::app {

namespace fs = std::filesystem;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Result<fs::path> data_folder(const std::string& given) {
  if (!given.empty()) return fs::path(given);
  if (const auto set = environment("KINDRED_DATA"); !set.empty()) return fs::path(set);
  if (const auto xdg = environment("XDG_DATA_HOME"); !xdg.empty()) return fs::path(xdg) / "kindred";
  if (const auto home = environment("HOME"); !home.empty())
    return fs::path(home) / ".local/share/kindred";
  return Error{Code::kInvalidArgument,
               "no data folder: $HOME is not set; name a folder with --data DIR"};
}

std::vector<fs::path> model_folders(const fs::path& data, const fs::path& program) {
  std::vector<fs::path> folders = embed::model_folders(data / "models");
  if (!program.empty()) {
    const fs::path beside = program.parent_path();
    folders.push_back(beside / "models");  // of a build tree
    folders.push_back((beside / "../share/kindred/models").lexically_normal());
  }
  // A program in /usr/local/bin has named one of them above.
  for (const char* installed : {"/usr/local/share/kindred/models", "/usr/share/kindred/models"})
    if (std::ranges::find(folders, installed) == folders.end()) folders.emplace_back(installed);
  return folders;
}

fs::path program_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

}  // namespace kin::app
