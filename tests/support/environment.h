#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace tutti {

/// Sets an environment variable (or, with null, unsets it) until the end of the test. Not while other threads run.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    put(value);
  }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ~ScopedVariable() { put(before_ ? before_->c_str() : nullptr); }

 private:
  void put(const char* value) const { value ? ::setenv(name_, value, 1) : ::unsetenv(name_); }

  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace tutti
