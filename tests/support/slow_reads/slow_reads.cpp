// A library for LD_PRELOAD: opening a file below the folder TUTTI_SLOW_FOLDER takes TUTTI_SLOW_MS milliseconds, as over
// a network that is slow to answer. Everything else is left alone.

#include <dlfcn.h>
#include <fcntl.h>
#include <time.h>

#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

void wait_for(const char* path) {
  static const char* const folder = std::getenv("TUTTI_SLOW_FOLDER");
  static const char* const milliseconds = std::getenv("TUTTI_SLOW_MS");
  if (!folder || !milliseconds || std::strncmp(path, folder, std::strlen(folder)) != 0) return;
  const long nanoseconds = std::strtol(milliseconds, nullptr, 10) * 1'000'000;
  const timespec time{nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000};
  ::nanosleep(&time, nullptr);
}

template <class Fn>
Fn* real(const char* name) {
  return reinterpret_cast<Fn*>(::dlsym(RTLD_NEXT, name));
}

mode_t mode_of(int flags, va_list arguments) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  wait_for(path);
  static auto* const next = real<int(const char*, int, ...)>("open");
  return next(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  wait_for(path);
  static auto* const next = real<int(const char*, int, ...)>("open64");
  return next(path, flags, mode);
}

void* fopen(const char* path, const char* mode) {
  wait_for(path);
  static auto* const next = real<void*(const char*, const char*)>("fopen");
  return next(path, mode);
}

void* fopen64(const char* path, const char* mode) {
  wait_for(path);
  static auto* const next = real<void*(const char*, const char*)>("fopen64");
  return next(path, mode);
}

}  // extern "C"
