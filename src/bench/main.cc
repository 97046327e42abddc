#include "bench/command.h"

int main(int argc, char** argv) {
  return kin::app::run_program(kin::bench::bench_program(), argc, argv);
}
