// Unpacked pages of Parquet files that stay in memory between scans.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace kin::data {

class PageBuffer;

// Holds unpacked pages, up to a number of bytes, so that a column that is read several times is
// unpacked once. The pages that come first stay: every scan reads in the order of the files, and
// what it finds does not depend on which pages these are. Thread-safe.
class KeptPages {
 public:
  using Page = std::shared_ptr<const PageBuffer>;

  KeptPages();
  ~KeptPages();
  KeptPages(const KeptPages&) = delete;

  // How many bytes all pages may take from now on; none at first. Pages that are too many go, the
  // last of the last file first.
  void limit(std::uint64_t bytes);
  std::uint64_t bytes() const;

  // The page of `file` that begins at `begin`, or nothing.
  Page find(const std::string& file, std::uint64_t begin) const;
  // Takes room for a page of so many bytes. If there was any, keep() or give_back() must follow.
  bool reserve(std::uint64_t bytes);
  void give_back(std::uint64_t bytes);
  Page keep(const std::string& file, std::uint64_t begin, PageBuffer page);
  // Forgets a page after its last use. Those who hold it still have it.
  void drop(const std::string& file, std::uint64_t begin);

 private:
  using Key = std::pair<std::string, std::uint64_t>;
  void erase(std::map<Key, Page>::iterator page);

  mutable std::mutex mutex_;  // of the following
  std::map<Key, Page> pages_;
  std::uint64_t bytes_ = 0;  // kept and reserved
  std::uint64_t limit_ = 0;
};

}  // namespace kin::data
