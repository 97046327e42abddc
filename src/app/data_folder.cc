#include "app/data_folder.h"

#include <cstdlib>

namespace kin::app {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

Result<std::filesystem::path> data_folder(const std::string& given) {
  if (!given.empty()) return std::filesystem::path(given);
  if (const auto set = variable("KINDRED_DATA"); !set.empty()) return std::filesystem::path(set);
  if (const auto xdg = variable("XDG_DATA_HOME"); !xdg.empty())
    return std::filesystem::path(xdg) / "kindred";
  if (const auto home = variable("HOME"); !home.empty())
    return std::filesystem::path(home) / ".local/share/kindred";
  return Error{Code::kInvalidArgument,
               "there is no home folder to keep things in: say where with --data DIR"};
}

}  // namespace kin::app
