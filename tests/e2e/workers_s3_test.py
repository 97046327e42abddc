#!/usr/bin/env python3
"""workers_test.py with a store in S3.

usage: workers_s3_test.py KINDRED [RECORDS]
"""
import workers_test

if __name__ == "__main__":
    workers_test.main("s3")
