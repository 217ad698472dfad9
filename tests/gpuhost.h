/* A host that stands for a GPU: a thread for each thread of a block, blocks one after the other. */
#include <pthread.h>
#include <thread>
#include <vector>

#define __global__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))

struct Index {
    unsigned x;
};
static thread_local Index threadIdx, blockIdx;
static pthread_barrier_t all;
#define __syncthreads() pthread_barrier_wait(&all)

template <class... P> static void each(void (*kernel)(P...), unsigned blocks, unsigned threads, P... given) {
    for (unsigned block = 0; block < blocks; block++) {
        std::vector<std::thread> some;
        pthread_barrier_init(&all, nullptr, threads);
        for (unsigned i = 0; i < threads; i++)
            some.emplace_back([=] {
                threadIdx.x = i;
                blockIdx.x = block;
                kernel(given...);
            });
        for (auto &x : some)
            x.join();
        pthread_barrier_destroy(&all);
    }
}
