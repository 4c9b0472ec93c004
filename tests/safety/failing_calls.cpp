// To be preloaded: makes one call fail as the system would, the one that FAILING_CALL names (malloc, write,
// rename, mmap, open, fsync) and FAILING_AT counts from 1. Says at the end how many there were, in the file
// FAILING_COUNT. "malloc" stands for all ways to ask for memory.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

// What the C library keeps of its own when others take the names. NOLINTBEGIN(readability-identifier-naming)
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* block, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}
// NOLINTEND(readability-identifier-naming)

namespace {

std::atomic<long> calls = 0;
std::atomic<bool> ended = false;

/// A variable of the environment, which is not there yet when the loader asks for its first memory.
const char* variable(const char* key) {
  const char* const value = environ ? std::getenv(key) : nullptr;
  return value ? value : "";
}

/// Whether this call of `what` is the one.
bool fails(const char* what, int reason) {
  if (ended || std::strcmp(variable("FAILING_CALL"), what) != 0) return false;
  if (++calls != std::atol(variable("FAILING_AT"))) return false;
  errno = reason;
  return true;
}

/// The function of this name that would have been called.
template <class Function>
Function next(const char* what) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, what));
}

[[gnu::destructor]] void tell() {
  ended = true;
  const char* const path = variable("FAILING_COUNT");
  if (!*path) return;
  char digits[24];
  std::size_t at = sizeof digits;
  for (long rest = calls; rest > 0 || at == sizeof digits; rest /= 10)
    digits[--at] = static_cast<char>('0' + rest % 10);
  using Open = int (*)(const char*, int, ...);
  const int file = next<Open>("open")(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  using Write = ssize_t (*)(int, const void*, std::size_t);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t put = next<Write>("write")(file, digits + at, sizeof digits - at);
  ::close(file);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* block, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_realloc(block, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
  return fails("malloc", ENOMEM) ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  if (fails("malloc", ENOMEM)) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block ? 0 : ENOMEM;
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  if (fails("write", ENOSPC)) return -1;
  using Write = ssize_t (*)(int, const void*, std::size_t);
  return next<Write>("write")(file, bytes, size);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  if (fails("write", ENOSPC)) return -1;
  using Write = ssize_t (*)(int, const struct iovec*, int);
  return next<Write>("writev")(file, parts, count);
}
int rename(const char* from, const char* to) noexcept {
  if (fails("rename", EIO)) return -1;
  using Rename = int (*)(const char*, const char*);
  return next<Rename>("rename")(from, to);
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  if (fails("rename", EIO)) return -1;
  using Rename = int (*)(int, const char*, int, const char*);
  return next<Rename>("renameat")(from_folder, from, to_folder, to);
}
int fsync(int file) {
  if (fails("fsync", EIO)) return -1;
  using Sync = int (*)(int);
  return next<Sync>("fsync")(file);
}
void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  if (fails("mmap", ENOMEM)) return MAP_FAILED;
  using Map = void* (*)(void*, std::size_t, int, int, int, off_t);
  return next<Map>("mmap")(at, size, protection, flags, file, offset);
}
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const unsigned mode = flags & O_CREAT ? va_arg(more, unsigned) : 0;
  va_end(more);
  if (fails("open", EMFILE)) return -1;
  using Open = int (*)(const char*, int, ...);
  return next<Open>("open")(path, flags, mode);
}
// What open becomes where its arguments are checked. NOLINTNEXTLINE(readability-identifier-naming)
int __open_2(const char* path, int flags) {
  return open(path, flags);
}
std::FILE* fopen64(const char* path, const char* mode) {
  if (fails("open", EMFILE)) return nullptr;
  using Open = std::FILE* (*)(const char*, const char*);
  return next<Open>("fopen64")(path, mode);
}

}  // extern "C"
