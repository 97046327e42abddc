#include "kv/log/rows.h"

#include "base/hash.h"

namespace kin::kv {

// A treap: ordered by key, and a heap by the hash of the key, which keeps it as shallow as a tree
// built in random order, whatever the order of the keys. The same rows always give the same tree.
struct Rows::Node {
  std::shared_ptr<const Row> row;
  std::uint64_t priority = 0;
  Tree left = {};
  Tree right = {};
  std::uint64_t count = 1;
  std::uint64_t bytes = 0;
};

// Rows less than a key, and the others.
struct Rows::Parts {
  Tree less;
  Tree rest;
};

// Nodes are shared with other copies of the map and never change: every node on the path of a
// change is made again with its new children. The row itself is shared.
Rows::Tree Rows::with_children(const Node& node, Tree left, Tree right) {
  auto made = std::make_shared<Node>(Node{.row = node.row, .priority = node.priority});
  made->bytes = node.row->key.size() + node.row->value.size();
  for (const Tree* child : {&left, &right}) {
    if (*child == nullptr) continue;
    made->count += (*child)->count;
    made->bytes += (*child)->bytes;
  }
  made->left = std::move(left);
  made->right = std::move(right);
  return made;
}

Rows::Parts Rows::split(const Tree& tree, std::string_view key) {
  if (tree == nullptr) return {};
  if (tree->row->key < key) {
    Parts parts = split(tree->right, key);
    return {with_children(*tree, tree->left, std::move(parts.less)), std::move(parts.rest)};
  }
  Parts parts = split(tree->left, key);
  return {std::move(parts.less), with_children(*tree, std::move(parts.rest), tree->right)};
}

// Every key of `left` is less than every key of `right`.
Rows::Tree Rows::join(const Tree& left, const Tree& right) {
  if (left == nullptr) return right;
  if (right == nullptr) return left;
  if (left->priority > right->priority)
    return with_children(*left, left->left, join(left->right, right));
  return with_children(*right, join(left, right->left), right->right);
}

// The next key in order: nothing lies between a key and the same key with a zero byte appended.
std::string Rows::successor(std::string_view key) {
  std::string next(key);
  next += '\0';
  return next;
}

void Rows::remove_range(std::string_view from, std::string_view to) {
  const Parts around = split(root_, from);
  root_ = join(around.less, split(around.rest, to).rest);
}

// The look-up avoids copying nodes for a missing key.
void Rows::remove(std::string_view key) {
  if (find(key) != nullptr) remove_range(key, successor(key));
}

void Rows::put(std::string_view key, std::string_view value) {
  const Node fresh{.row = std::make_shared<const Row>(Row{std::string(key), std::string(value)}),
                   .priority = hash64(key)};
  // A row under the same key is in neither part, and so it is replaced.
  const Parts around = split(root_, key);
  const Tree greater = split(around.rest, successor(key)).rest;
  root_ = join(join(around.less, with_children(fresh, nullptr, nullptr)), greater);
}

template <typename IsBefore>
const Rows::Row* Rows::first_not(const IsBefore& is_before) const {
  const Row* best = nullptr;
  for (const Node* node = root_.get(); node != nullptr;) {
    const bool before = is_before(node->row->key);
    if (!before) best = node->row.get();
    node = before ? node->right.get() : node->left.get();
  }
  return best;
}

const Rows::Row* Rows::at_or_after(std::string_view key) const {
  return first_not([&](std::string_view other) { return other < key; });
}

const Rows::Row* Rows::after(std::string_view key) const {
  return first_not([&](std::string_view other) { return other <= key; });
}

const Rows::Row* Rows::find(std::string_view key) const {
  const Row* row = at_or_after(key);
  return row != nullptr && row->key == key ? row : nullptr;
}

std::uint64_t Rows::size() const {
  return root_ == nullptr ? 0 : root_->count;
}

std::uint64_t Rows::bytes() const {
  return root_ == nullptr ? 0 : root_->bytes;
}

}  // namespace kin::kv
