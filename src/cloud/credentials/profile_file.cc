#include "cloud/credentials/profile_file.h"

#include "base/ascii.h"

namespace kin::cloud {
namespace {

constexpr std::string_view kSpaces = " \t\r";

std::string_view without_comment(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool marks = line[i] == '#' || line[i] == ';';
    if (marks && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t')) return line.substr(0, i);
  }
  return line;
}

// The profile that a section is for; empty if it is for something else.
std::string section_name(std::string_view line) {
  const std::size_t end = line.find(']');
  if (end == std::string_view::npos) return {};
  std::string_view name = trimmed(line.substr(1, end - 1), kSpaces);
  for (const std::string_view kind : {"profile ", "profile\t"}) {
    if (name.starts_with(kind)) name = trimmed(name.substr(kind.size()), kSpaces);
  }
  return std::string(name);
}

}  // namespace

std::map<std::string, Profile> parse_profiles(std::string_view text) {
  std::map<std::string, Profile> profiles;
  Profile* current = nullptr;
  while (!text.empty()) {
    const std::string_view line = take_until(text, "\n");
    const bool nested = !line.empty() && kSpaces.find(line[0]) != std::string_view::npos;
    const std::string_view content = trimmed(without_comment(line), kSpaces);
    if (nested || content.empty()) continue;
    if (content[0] == '[') {
      const std::string name = section_name(content);
      current = name.empty() ? nullptr : &profiles[name];
      continue;
    }
    const std::size_t equals = content.find('=');
    if (current == nullptr || equals == std::string_view::npos) continue;
    const std::string name = ascii_lowered(trimmed(content.substr(0, equals), kSpaces));
    (*current)[name] = std::string(trimmed(content.substr(equals + 1), kSpaces));
  }
  return profiles;
}

std::filesystem::path profile_file(const Environment& environment, const std::string& variable,
                                   const std::string& name) {
  if (const auto path = environment(variable); path && !path->empty()) return *path;
  const auto home = environment("HOME");
  if (!home || home->empty()) return {};
  return std::filesystem::path(*home) / ".aws" / name;
}

}  // namespace kin::cloud
