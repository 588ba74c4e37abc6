terraform {
  required_version = ">= 1.5"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.0"
    }
  }
}

provider "aws" {
  region = var.region
}

locals {
  name = "shop-${var.stage}"
  # On everything.
  tags = {
    Stage = var.stage
  }
}

# Where to build.
variable "region" {
  type        = string
  default     = "eu-west-1"
  description = "The region"

  validation {
    condition     = length(var.region) > 0
    error_message = "Empty."
  }
}

variable "stage" { type = string }

data "aws_availability_zones" "available" {}

/* The network itself. */
resource "aws_vpc" "main" {
  cidr_block = "10.0.0.0/16"
  tags       = merge(local.tags, { Name = local.name })

  lifecycle {
    prevent_destroy = true
  }
}

resource "aws_security_group" "web" {
  vpc_id = aws_vpc.main.id

  dynamic "ingress" {
    for_each = toset([80, 443])
    content {
      from_port = ingress.value
    }
  }

  user_data = <<-EOT
    #!/bin/sh
    resource "not" "this" {}
  EOT
}

module "subnets" {
  source = "./subnets"
  count  = 2
}

output "vpc_id" {
  value = aws_vpc.main.id
}

moved {
  from = aws_vpc.old
  to   = aws_vpc.main
}

check "health" { data "http" "page" { url = "https://example.com" } }

// As in a .tfvars file.
stage = "test"
