#include "base/log_owner.h"

#include <utility>

namespace tutti {
namespace {

thread_local std::string owner_of_lines;

}  // namespace

LogOwner::LogOwner(std::string owner) : before_(std::exchange(owner_of_lines, std::move(owner))) {}

LogOwner::~LogOwner() {
  owner_of_lines = std::move(before_);
}

const std::string& log_owner() {
  return owner_of_lines;
}

}  // namespace tutti
