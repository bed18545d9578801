#include "cli/commands.h"

int main(int count, char** arguments) {
  return tutti::run_tutti({arguments + 1, arguments + count});
}
