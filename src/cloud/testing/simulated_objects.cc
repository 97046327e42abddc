#include "cloud/testing/simulated_objects.h"

namespace kin::cloud {

using Objects = std::map<std::string, std::string>;

Result<std::optional<std::string>> SimulatedObjects::get(const std::string& name) {
  using Found = std::optional<std::string>;
  return call<Found>(Operation::kGet, name, [&](Objects& objects) -> Result<Found> {
    const auto found = objects.find(name);
    return found == objects.end() ? std::nullopt : Found(found->second);
  });
}

Result<std::vector<std::string>> SimulatedObjects::get_ranges(const std::string& name,
                                                              std::span<const ByteRange> ranges) {
  using Parts = std::vector<std::string>;
  return call<Parts>(Operation::kGetRanges, name, [&](Objects& objects) -> Result<Parts> {
    const auto found = objects.find(name);
    if (found == objects.end()) return Error{Code::kNotFound, "there is no " + name};
    Parts parts;
    for (const ByteRange& range : ranges) {
      const std::uint64_t size = found->second.size();
      if (range.size == 0 || range.offset > size || range.size > size - range.offset)
        return Error{Code::kInvalidArgument, "a range does not lie within " + name};
      parts.push_back(found->second.substr(range.offset, range.size));
    }
    return parts;
  });
}

Result<bool> SimulatedObjects::create(const std::string& name, std::string bytes) {
  return call<bool>(Operation::kCreate, name, [&](Objects& objects) -> Result<bool> {
    return objects.emplace(name, std::move(bytes)).second;
  });
}

Status SimulatedObjects::upload(const std::string& name, const ObjectSource& source) {
  std::string bytes;
  std::string buffer(std::size_t{1} << 16, '\0');
  for (;;) {
    KIN_TRY(const std::size_t count, source(buffer));
    if (count == 0) break;
    bytes.append(buffer, 0, count);
  }
  return call<Done>(Operation::kUpload, name, [&](Objects& objects) -> Status {
    objects[name] = std::move(bytes);
    return Done{};
  });
}

Result<std::vector<std::string>> SimulatedObjects::list(const std::string& prefix, int most,
                                                        std::string& next) {
  using Names = std::vector<std::string>;
  return call<Names>(Operation::kList, prefix, [&](Objects& objects) -> Result<Names> {
    Names names;
    auto at = objects.lower_bound(prefix);
    if (!next.empty()) at = objects.upper_bound(next);
    next.clear();
    for (; at != objects.end() && at->first.starts_with(prefix); ++at) {
      if (names.size() == static_cast<std::size_t>(most)) {
        next = names.back();
        break;
      }
      names.push_back(at->first);
    }
    return names;
  });
}

Status SimulatedObjects::remove(std::span<const std::string> names) {
  return call<Done>(Operation::kRemove, names.empty() ? "" : names.front(),
                    [&](Objects& objects) -> Status {
                      for (const std::string& name : names) objects.erase(name);
                      return Done{};
                    });
}

}  // namespace kin::cloud
