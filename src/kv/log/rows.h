// Sorted rows whose copies cost nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace kin::kv {

// A sorted map from keys to values. A copy shares all rows and is not changed by later changes to
// the original: the tree is never modified, a change makes new nodes on its path.
// Thread-compatible; copies may be used by other threads.
class Rows {
 public:
  struct Row {
    std::string key;
    std::string value;
  };

  void put(std::string_view key, std::string_view value);
  void remove(std::string_view key);
  // Keys in [from, to).
  void remove_range(std::string_view from, std::string_view to);

  // nullptr if there is none. Rows live as long as a copy of the map that has them.
  const Row* find(std::string_view key) const;
  // The first row whose key is not less than `key`.
  const Row* at_or_after(std::string_view key) const;
  // The first row whose key is greater than `key`.
  const Row* after(std::string_view key) const;

  std::uint64_t size() const;
  std::uint64_t bytes() const;  // of keys and values

 private:
  struct Node;
  using Tree = std::shared_ptr<const Node>;
  struct Parts;
  static Tree with_children(const Node& node, Tree left, Tree right);
  static Parts split(const Tree& tree, std::string_view key);
  static Tree join(const Tree& left, const Tree& right);
  // The first row whose key is not before the one looked for.
  template <typename IsBefore>
  const Row* first_not(const IsBefore& is_before) const;
  static std::string successor(std::string_view key);

  Tree root_;
};

}  // namespace kin::kv
