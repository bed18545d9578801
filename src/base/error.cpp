#include "base/error.h"

#include <cerrno>
#include <cstring>
#include <string>

#include "base/process/process_setup.h"

namespace tutti {
namespace {

Fault fault_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR: return Fault::missing;
    case EISDIR:
    case EEXIST:
    case ENOTEMPTY:
    case ELOOP:
    case ENAMETOOLONG:
    case EINVAL:  // mostly a name that this file system does not take
    case ENXIO: return Fault::usage;
    case ENOSYS:
    case ENOTSUP:
    case ENOEXEC: return Fault::unsupported;
    case ENOSPC:
    case EDQUOT: return Fault::full;
    case ENOMEM:
    case EMFILE:
    case ENFILE: return Fault::exhausted;
    case EACCES:
    case EPERM:
    case EROFS: return Fault::refused;
    case EIO:
    case ESTALE:
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ENOTCONN:
    case ENOLCK:
    case EAGAIN:
    case ETXTBSY:
    case EBUSY: return Fault::unavailable;
    default: return Fault::internal;
  }
}

std::string hint_for(int error_number) {
  switch (error_number) {
    case ENOENT: return "Check the path";
    case EACCES:
    case EPERM: return "Check the permissions of the file and its folder";
    case EROFS: return "Its file system is mounted read-only; name a path on another";
    case ENOSPC: return "Free some space, or name a place on a disk that has some (temporary files: TMPDIR)";
    case EDQUOT: return "The disk quota is used up; free some space";
    case EMFILE: return "Raise the limit of open files (ulimit -n)";
    case ENOMEM: return "Take less at once, or let this process have more memory (ulimit -v)";
    default: return {};
  }
}

}  // namespace

Error system_error(std::string_view thing, std::string_view doing, int error_number) {
  const std::string what = std::string(thing) + ": " + std::string(doing) + ": " + std::strerror(error_number);
  return error_number == EFBIG ? file_too_large(what) : Error{fault_of(error_number), what, hint_for(error_number)};
}

tl::unexpected<Error> fail_errno(std::string_view thing, std::string_view doing) {
  return tl::unexpected<Error>(system_error(thing, doing, errno));
}

}  // namespace tutti
