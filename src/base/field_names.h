#pragma once

#include <string>
#include <string_view>

namespace tutti {

/// How messages write the name of an option: a library's caller knows the field of a struct or of a request,
/// `batch_size`; who types a command knows its flag, `--batch-size`.
enum class FieldNames { fields, flags };

/// The writing of this process's messages; FieldNames::fields until it is called. Called once, first thing in the main
/// of a program that has a command line, before any thread.
void set_field_names(FieldNames names);
/// What this thread's messages have: a child that writes messages for this process has to be started with the same.
FieldNames field_names();

/// The name of an option in a message, as its reader writes it; `name` is the field's, `batch_size`. Every message of a
/// library has its names from here (tools/check_layers.py). Thread-safe.
std::string field(std::string_view name);

/// While it exists, this thread writes names so: a service's client knows fields, whatever its server's flags are.
/// Scopes nest.
class FieldNamesScope {
 public:
  explicit FieldNamesScope(FieldNames names);
  FieldNamesScope(const FieldNamesScope&) = delete;
  FieldNamesScope& operator=(const FieldNamesScope&) = delete;
  ~FieldNamesScope();

 private:
  const FieldNamesScope* const before_;
  const FieldNames names_;
  friend FieldNames field_names();
};

}  // namespace tutti
