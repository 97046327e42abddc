#include "base/breath.h"

#include <utility>

namespace kin {
namespace {

thread_local const std::function<void()>* pause_of_thread = nullptr;

}  // namespace

Breathing::Breathing(std::function<void()> pause) : pause_(std::move(pause)) {
  pause_of_thread = &pause_;
}

Breathing::~Breathing() {
  pause_of_thread = nullptr;
}

void take_breath() {
  if (pause_of_thread != nullptr) (*pause_of_thread)();
}

}  // namespace kin
