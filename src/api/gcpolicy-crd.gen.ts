// Made from crds/gc.dustpan.dev_gcpolicies.yaml by npm run generate. Do not edit.

export const gcPolicyCrd: object = {
  "spec": {
    "versions": [
      {
        "name": "v1alpha1",
        "storage": true,
        "schema": {
          "openAPIV3Schema": {
            "type": "object",
            "required": [
              "spec"
            ],
            "properties": {
              "apiVersion": {
                "type": "string",
                "maxLength": 317
              },
              "kind": {
                "type": "string",
                "maxLength": 63
              },
              "metadata": {
                "type": "object"
              },
              "spec": {
                "type": "object",
                "properties": {
                  "mode": {
                    "type": "string",
                    "enum": [
                      "DryRun",
                      "Enforce"
                    ],
                    "default": "DryRun"
                  },
                  "priority": {
                    "type": "integer",
                    "format": "int32",
                    "minimum": -1000000000,
                    "maximum": 1000000000,
                    "default": 0
                  },
                  "pods": {
                    "type": "object",
                    "properties": {
                      "namespaceSelector": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "default": {},
                        "properties": {
                          "matchLabels": {
                            "type": "object",
                            "maxProperties": 32,
                            "x-kubernetes-validations": [
                              {
                                "rule": "self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))",
                                "message": "must be a map of label keys, such as example.com/team, to values",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "additionalProperties": {
                              "type": "string",
                              "default": "",
                              "maxLength": 63,
                              "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
                            }
                          },
                          "matchExpressions": {
                            "type": "array",
                            "x-kubernetes-list-type": "atomic",
                            "maxItems": 32,
                            "items": {
                              "type": "object",
                              "required": [
                                "key",
                                "operator"
                              ],
                              "x-kubernetes-validations": [
                                {
                                  "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
                                  "message": "must be given with the operators In and NotIn",
                                  "fieldPath": ".values",
                                  "reason": "FieldValueInvalid"
                                },
                                {
                                  "rule": "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
                                  "message": "must be empty with the operators Exists and DoesNotExist",
                                  "fieldPath": ".values",
                                  "reason": "FieldValueInvalid"
                                }
                              ],
                              "properties": {
                                "key": {
                                  "type": "string",
                                  "minLength": 1,
                                  "maxLength": 317,
                                  "pattern": "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
                                },
                                "operator": {
                                  "type": "string",
                                  "enum": [
                                    "In",
                                    "NotIn",
                                    "Exists",
                                    "DoesNotExist"
                                  ]
                                },
                                "values": {
                                  "type": "array",
                                  "x-kubernetes-list-type": "atomic",
                                  "maxItems": 64,
                                  "items": {
                                    "type": "string",
                                    "maxLength": 63,
                                    "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
                                  }
                                }
                              }
                            }
                          }
                        }
                      },
                      "excludeNamespaces": {
                        "type": "array",
                        "x-kubernetes-list-type": "set",
                        "maxItems": 256,
                        "default": [],
                        "items": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 63,
                          "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
                        }
                      },
                      "podSelector": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "default": {},
                        "properties": {
                          "matchLabels": {
                            "type": "object",
                            "maxProperties": 32,
                            "x-kubernetes-validations": [
                              {
                                "rule": "self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))",
                                "message": "must be a map of label keys, such as example.com/team, to values",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "additionalProperties": {
                              "type": "string",
                              "default": "",
                              "maxLength": 63,
                              "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
                            }
                          },
                          "matchExpressions": {
                            "type": "array",
                            "x-kubernetes-list-type": "atomic",
                            "maxItems": 32,
                            "items": {
                              "type": "object",
                              "required": [
                                "key",
                                "operator"
                              ],
                              "x-kubernetes-validations": [
                                {
                                  "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
                                  "message": "must be given with the operators In and NotIn",
                                  "fieldPath": ".values",
                                  "reason": "FieldValueInvalid"
                                },
                                {
                                  "rule": "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
                                  "message": "must be empty with the operators Exists and DoesNotExist",
                                  "fieldPath": ".values",
                                  "reason": "FieldValueInvalid"
                                }
                              ],
                              "properties": {
                                "key": {
                                  "type": "string",
                                  "minLength": 1,
                                  "maxLength": 317,
                                  "pattern": "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
                                },
                                "operator": {
                                  "type": "string",
                                  "enum": [
                                    "In",
                                    "NotIn",
                                    "Exists",
                                    "DoesNotExist"
                                  ]
                                },
                                "values": {
                                  "type": "array",
                                  "x-kubernetes-list-type": "atomic",
                                  "maxItems": 64,
                                  "items": {
                                    "type": "string",
                                    "maxLength": 63,
                                    "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
                                  }
                                }
                              }
                            }
                          }
                        }
                      },
                      "terminated": {
                        "type": "object",
                        "properties": {
                          "threshold": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": -2147483648,
                            "maximum": 2147483647,
                            "default": 12500
                          },
                          "perNamespaceThreshold": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": -2147483648,
                            "maximum": 2147483647
                          },
                          "ttlAfterFinished": {
                            "type": "string",
                            "minLength": 2,
                            "maxLength": 32,
                            "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                            "x-kubernetes-validations": [
                              {
                                "rule": "duration(self) >= duration('0s') && duration(self) <= duration('87600h')",
                                "message": "must be a duration between 0s and 87600h, such as 90s or 1h30m",
                                "reason": "FieldValueInvalid"
                              }
                            ]
                          },
                          "ttlByReason": {
                            "type": "array",
                            "x-kubernetes-list-type": "atomic",
                            "maxItems": 32,
                            "items": {
                              "type": "object",
                              "required": [
                                "ttl"
                              ],
                              "x-kubernetes-validations": [
                                {
                                  "rule": "has(self.phase) || has(self.reason) || (has(self.messagePattern) && self.messagePattern != '')",
                                  "message": "must be given at least one of phase, reason and messagePattern",
                                  "reason": "FieldValueInvalid"
                                }
                              ],
                              "properties": {
                                "phase": {
                                  "type": "string",
                                  "enum": [
                                    "Succeeded",
                                    "Failed"
                                  ]
                                },
                                "reason": {
                                  "type": "string",
                                  "minLength": 1,
                                  "maxLength": 128
                                },
                                "messagePattern": {
                                  "type": "string",
                                  "maxLength": 256
                                },
                                "ttl": {
                                  "type": "string",
                                  "minLength": 2,
                                  "maxLength": 32,
                                  "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                                  "x-kubernetes-validations": [
                                    {
                                      "rule": "duration(self) >= duration('0s') && duration(self) <= duration('87600h')",
                                      "message": "must be a duration between 0s and 87600h, such as 90s or 1h30m",
                                      "reason": "FieldValueInvalid"
                                    }
                                  ]
                                }
                              }
                            }
                          },
                          "keepPerOwner": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 1000000,
                            "default": 0
                          },
                          "protectUnfinishedJobs": {
                            "type": "boolean",
                            "default": false
                          }
                        }
                      },
                      "orphaned": {
                        "type": "object",
                        "properties": {
                          "quarantine": {
                            "type": "string",
                            "minLength": 2,
                            "maxLength": 32,
                            "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                            "x-kubernetes-validations": [
                              {
                                "rule": "duration(self) >= duration('0s') && duration(self) <= duration('87600h')",
                                "message": "must be a duration between 0s and 87600h, such as 90s or 1h30m",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "default": "40s"
                          }
                        }
                      },
                      "unscheduledTerminating": {
                        "type": "object"
                      },
                      "outOfService": {
                        "type": "object"
                      },
                      "safety": {
                        "type": "object",
                        "default": {},
                        "properties": {
                          "maxDeletesPerPass": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 1000000,
                            "default": 0
                          },
                          "maxOrphanedNodesPercent": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 100,
                            "default": 20
                          }
                        }
                      }
                    }
                  },
                  "nodes": {
                    "type": "object",
                    "properties": {
                      "nodeSelector": {
                        "type": "object",
                        "x-kubernetes-map-type": "atomic",
                        "default": {},
                        "properties": {
                          "matchLabels": {
                            "type": "object",
                            "maxProperties": 32,
                            "x-kubernetes-validations": [
                              {
                                "rule": "self.all(k, k.size() <= 317 && k.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'))",
                                "message": "must be a map of label keys, such as example.com/team, to values",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "additionalProperties": {
                              "type": "string",
                              "default": "",
                              "maxLength": 63,
                              "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
                            }
                          },
                          "matchExpressions": {
                            "type": "array",
                            "x-kubernetes-list-type": "atomic",
                            "maxItems": 32,
                            "items": {
                              "type": "object",
                              "required": [
                                "key",
                                "operator"
                              ],
                              "x-kubernetes-validations": [
                                {
                                  "rule": "!(self.operator in ['In', 'NotIn']) || (has(self.values) && size(self.values) > 0)",
                                  "message": "must be given with the operators In and NotIn",
                                  "fieldPath": ".values",
                                  "reason": "FieldValueInvalid"
                                },
                                {
                                  "rule": "!(self.operator in ['Exists', 'DoesNotExist']) || !has(self.values) || size(self.values) == 0",
                                  "message": "must be empty with the operators Exists and DoesNotExist",
                                  "fieldPath": ".values",
                                  "reason": "FieldValueInvalid"
                                }
                              ],
                              "properties": {
                                "key": {
                                  "type": "string",
                                  "minLength": 1,
                                  "maxLength": 317,
                                  "pattern": "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
                                },
                                "operator": {
                                  "type": "string",
                                  "enum": [
                                    "In",
                                    "NotIn",
                                    "Exists",
                                    "DoesNotExist"
                                  ]
                                },
                                "values": {
                                  "type": "array",
                                  "x-kubernetes-list-type": "atomic",
                                  "maxItems": 64,
                                  "items": {
                                    "type": "string",
                                    "maxLength": 63,
                                    "pattern": "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
                                  }
                                }
                              }
                            }
                          }
                        }
                      },
                      "imageGC": {
                        "type": "object",
                        "x-kubernetes-validations": [
                          {
                            "rule": "self.lowThresholdPercent < self.highThresholdPercent",
                            "message": "must be lower than highThresholdPercent",
                            "fieldPath": ".lowThresholdPercent",
                            "reason": "FieldValueInvalid"
                          },
                          {
                            "rule": "duration(self.maximumAge) == duration('0s') || duration(self.maximumAge) > duration(self.minimumAge)",
                            "message": "must be 0s, or more than minimumAge",
                            "fieldPath": ".maximumAge",
                            "reason": "FieldValueInvalid"
                          }
                        ],
                        "properties": {
                          "highThresholdPercent": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 100,
                            "default": 85
                          },
                          "lowThresholdPercent": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 100,
                            "default": 80
                          },
                          "minimumAge": {
                            "type": "string",
                            "minLength": 2,
                            "maxLength": 32,
                            "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                            "x-kubernetes-validations": [
                              {
                                "rule": "duration(self) >= duration('0s') && duration(self) <= duration('87600h')",
                                "message": "must be a duration between 0s and 87600h, such as 90s or 1h30m",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "default": "2m"
                          },
                          "maximumAge": {
                            "type": "string",
                            "minLength": 2,
                            "maxLength": 32,
                            "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                            "x-kubernetes-validations": [
                              {
                                "rule": "duration(self) >= duration('0s') && duration(self) <= duration('87600h')",
                                "message": "must be a duration between 0s and 87600h, such as 90s or 1h30m",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "default": "0s"
                          },
                          "keep": {
                            "type": "array",
                            "x-kubernetes-list-type": "set",
                            "maxItems": 256,
                            "default": [],
                            "items": {
                              "type": "string",
                              "minLength": 1,
                              "maxLength": 512
                            }
                          },
                          "kubeletHighThresholdPercent": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 100,
                            "default": 85
                          },
                          "maxImagesPerPass": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 0,
                            "maximum": 1000000,
                            "default": 0
                          },
                          "repullBackoff": {
                            "type": "boolean",
                            "default": true
                          }
                        }
                      },
                      "containerGC": {
                        "type": "object",
                        "properties": {
                          "minimumAge": {
                            "type": "string",
                            "minLength": 2,
                            "maxLength": 32,
                            "pattern": "^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$",
                            "x-kubernetes-validations": [
                              {
                                "rule": "duration(self) >= duration('0s') && duration(self) <= duration('87600h')",
                                "message": "must be a duration between 0s and 87600h, such as 90s or 1h30m",
                                "reason": "FieldValueInvalid"
                              }
                            ],
                            "default": "0s"
                          },
                          "maxPerPodContainer": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": -1,
                            "maximum": 1000000,
                            "default": 1
                          },
                          "maxContainers": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": -1,
                            "maximum": 1000000,
                            "default": -1
                          },
                          "sandboxes": {
                            "type": "boolean",
                            "default": true
                          },
                          "logs": {
                            "type": "object",
                            "properties": {
                              "orphanedDirectories": {
                                "type": "boolean",
                                "default": true
                              },
                              "brokenLinks": {
                                "type": "boolean",
                                "default": true
                              },
                              "maxRotatedPerContainer": {
                                "type": "integer",
                                "format": "int32",
                                "minimum": -1,
                                "maximum": 1000000,
                                "default": -1
                              },
                              "maxBytesPerPod": {
                                "type": "string",
                                "maxLength": 24,
                                "pattern": "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$",
                                "default": ""
                              }
                            }
                          }
                        }
                      },
                      "localStorageEviction": {
                        "type": "object",
                        "properties": {
                          "warnAtPercent": {
                            "type": "array",
                            "x-kubernetes-list-type": "set",
                            "maxItems": 8,
                            "default": [
                              80,
                              95
                            ],
                            "items": {
                              "type": "integer",
                              "format": "int32",
                              "minimum": 1,
                              "maximum": 100
                            }
                          },
                          "evictAtPercent": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": 1,
                            "maximum": 100,
                            "default": 100
                          },
                          "respectPodDisruptionBudgets": {
                            "type": "boolean",
                            "default": true
                          },
                          "gracePeriodSeconds": {
                            "type": "integer",
                            "format": "int32",
                            "minimum": -1,
                            "maximum": 604800,
                            "default": -1
                          },
                          "defaultLimits": {
                            "type": "object",
                            "properties": {
                              "emptyDir": {
                                "type": "string",
                                "maxLength": 24,
                                "pattern": "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$",
                                "default": ""
                              },
                              "pod": {
                                "type": "string",
                                "maxLength": 24,
                                "pattern": "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$",
                                "default": ""
                              },
                              "container": {
                                "type": "string",
                                "maxLength": 24,
                                "pattern": "^([0-9]{1,15}(\\.[0-9]{1,3})?(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?)?$",
                                "default": ""
                              }
                            }
                          }
                        }
                      }
                    }
                  }
                }
              },
              "status": {
                "type": "object",
                "properties": {
                  "observedGeneration": {
                    "type": "integer",
                    "format": "int64",
                    "minimum": 0,
                    "maximum": 9007199254740991
                  },
                  "lastPassTime": {
                    "type": "string",
                    "format": "date-time"
                  },
                  "conditions": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": [
                      "type"
                    ],
                    "maxItems": 8,
                    "items": {
                      "type": "object",
                      "required": [
                        "lastTransitionTime",
                        "message",
                        "reason",
                        "status",
                        "type"
                      ],
                      "properties": {
                        "lastTransitionTime": {
                          "type": "string",
                          "format": "date-time"
                        },
                        "message": {
                          "type": "string",
                          "maxLength": 32768
                        },
                        "observedGeneration": {
                          "type": "integer",
                          "format": "int64",
                          "minimum": 0,
                          "maximum": 9007199254740991
                        },
                        "reason": {
                          "type": "string",
                          "minLength": 1,
                          "maxLength": 1024,
                          "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
                        },
                        "status": {
                          "type": "string",
                          "enum": [
                            "True",
                            "False",
                            "Unknown"
                          ]
                        },
                        "type": {
                          "type": "string",
                          "maxLength": 316,
                          "pattern": "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
                        }
                      }
                    }
                  },
                  "pods": {
                    "type": "object",
                    "properties": {
                      "governed": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "terminated": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "due": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "waiting": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "held": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "deletedTotal": {
                        "type": "integer",
                        "format": "int64",
                        "minimum": 0,
                        "maximum": 9007199254740991
                      },
                      "errorsLastPass": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "missingNodes": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      }
                    }
                  },
                  "nodes": {
                    "type": "object",
                    "properties": {
                      "desired": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "upToDate": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "degraded": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "keepListAtRisk": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "imagesRemovable": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "imageBytesReclaimable": {
                        "type": "integer",
                        "format": "int64",
                        "minimum": 0,
                        "maximum": 9007199254740991
                      },
                      "imageBytesReclaimed": {
                        "type": "integer",
                        "format": "int64",
                        "minimum": 0,
                        "maximum": 9007199254740991
                      },
                      "containersRemovable": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "storageWarnings": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      },
                      "evictionRequests": {
                        "type": "integer",
                        "format": "int32",
                        "minimum": 0,
                        "maximum": 2147483647
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    ]
  }
};
